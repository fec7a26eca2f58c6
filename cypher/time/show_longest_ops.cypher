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
WITH n.uid AS wanted, n.duration_ns AS lasts ORDER BY lasts DESC, wanted LIMIT $count
MATCH (op:Op {uid: wanted})
RETURN wanted AS uid, op.rank AS rank, op.name AS name, op.step AS step, op.start_ns AS start_ns,
       op.duration_ns AS duration_ns, op.self_ns AS self_ns
ORDER BY duration_ns DESC, wanted
