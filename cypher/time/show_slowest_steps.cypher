// The steps that took longest, from the first start to the last end of their host ops.
// param run: text, the run asked
// param count: int = 20, how many
// param rank: int = null, one rank alone
// column rank: int, global rank
// column step: int, number of the ProfilerStep
// column duration_ns: int, from first start to last end
// column start_ns: int, first start
// column ops: int, host ops in it
MATCH (n:HostOp)
WHERE n.run = $run AND n.step IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
WITH n.rank AS rank, n.step AS step, count(*) AS ops, min(n.start_ns) AS start_ns,
     max(n.start_ns + n.duration_ns) AS stop_ns
RETURN rank, step, stop_ns - start_ns AS duration_ns, start_ns, ops
ORDER BY duration_ns DESC, rank, step
LIMIT $count
