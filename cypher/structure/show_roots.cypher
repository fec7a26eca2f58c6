// The trees of calls, the largest first: the top of each, its size and depth. Spans known to Kineto only count.
// param run: text, the run asked
// param rank: int = null, one rank alone
// param count: int = 20, how many
// column rank: int, global rank
// column root: int, uid of the top
// column name: text, its name
// column ops: int, host ops in the tree, the top among them
// column depth: int, callers above the deepest of them
// column self_ns: int, own time of all of them; null where none has times
// column start_ns: int, start of the top
// column duration_ns: int, how long the top lasts
MATCH (n:HostOp)
WHERE n.run = $run AND n.root IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
WITH n.root AS root, count(*) AS ops, max(n.depth) AS depth, sum(n.self_ns) AS own, count(n.self_ns) AS timed
ORDER BY ops DESC, root
LIMIT $count
MATCH (top:Op {uid: root})
RETURN top.rank AS rank, root, top.name AS name, ops, depth, CASE WHEN timed > 0 THEN own END AS self_ns,
       top.start_ns AS start_ns, top.duration_ns AS duration_ns
ORDER BY ops DESC, root
