// Steps per rank: ops in them, first start, last end.
// param run: text, the run asked
// column rank: int, global rank
// column step: int, number of the ProfilerStep
// column ops: int, host ops in it
// column start_ns: int, first start
// column end_ns: int, last end
MATCH (n:HostOp)
WHERE n.run = $run AND n.step IS NOT NULL
RETURN n.rank AS rank, n.step AS step, count(*) AS ops, min(n.start_ns) AS start_ns,
       max(n.start_ns + n.duration_ns) AS end_ns
ORDER BY rank, step
