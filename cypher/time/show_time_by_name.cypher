// Host ops by name: how many, time in all, time of their own, the longest.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column name: text, name of the ops
// column ops: int, how many
// column duration_ns: int, sum from start to end (ops inside count again)
// column self_ns: int, sum of their own time
// column longest_ns: int, the longest
MATCH (n:HostOp)
WHERE n.run = $run AND n.duration_ns IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
RETURN n.name AS name, count(*) AS ops, sum(n.duration_ns) AS duration_ns, sum(n.self_ns) AS self_ns,
       max(n.duration_ns) AS longest_ns
ORDER BY self_ns DESC, name
