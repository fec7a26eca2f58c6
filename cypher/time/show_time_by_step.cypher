// What each step is made of: own time of its host ops, of these communication calls, and device ops it launched.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column rank: int, global rank
// column step: int, number of the ProfilerStep
// column ops: int, host ops in it
// column self_ns: int, their own time, on all threads
// column calls: int, communication calls it made
// column device_ops: int, device ops its host ops launched
// column device_ns: int, their time, on all streams
MATCH (n:HostOp)
WHERE n.run = $run AND n.step IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
WITH n, [(n)-[:CTRL]->(:RuntimeCall)-[:LAUNCHES]->(k:Kernel) | coalesce(k.duration_ns, 0)] AS lasts
RETURN n.rank AS rank, n.step AS step, count(*) AS ops, sum(n.self_ns) AS self_ns, count(n.comm_kind) AS calls,
       sum(size(lasts)) AS device_ops, sum(reduce(total = 0, one IN lasts | total + one)) AS device_ns
ORDER BY rank, step
