// The host ops with the longest time of their own (less that of the ops inside).
// param run: text, the run asked
// param count: int = 20, how many
// param rank: int = null, one rank alone
// column uid: int, the op
// column rank: int, global rank
// column name: text, its name
// column self_ns: int, time of its own
// column duration_ns: int, time from start to end
MATCH (n:HostOp)
WHERE n.run = $run AND n.self_ns IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
WITH n.uid AS wanted, n.self_ns AS own ORDER BY own DESC, wanted LIMIT $count
MATCH (op:Op {uid: wanted})
RETURN wanted AS uid, op.rank AS rank, op.name AS name, op.self_ns AS self_ns, op.duration_ns AS duration_ns
ORDER BY self_ns DESC, wanted
