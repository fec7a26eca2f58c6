// The host ops that last longest from start to end, all inside them included.
// param run: text, the run asked
// param count: int = 20, how many
// param rank: int = null, one rank alone
// column uid: int, the op
// column rank: int, global rank
// column name: text, its name
// column step: int, number of the ProfilerStep it lies in
// column start_ns: int, its start
// column duration_ns: int, time from start to end
// column self_ns: int, of this its own
MATCH (n:HostOp)
WHERE n.run = $run AND n.duration_ns IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
WITH n ORDER BY n.duration_ns DESC, n.uid LIMIT $count
RETURN n.uid AS uid, n.rank AS rank, n.name AS name, n.step AS step, n.start_ns AS start_ns,
       n.duration_ns AS duration_ns, n.self_ns AS self_ns
ORDER BY duration_ns DESC, uid
