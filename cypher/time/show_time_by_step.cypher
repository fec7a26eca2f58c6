// What each step is made of: own time of its host ops, of these communication calls, and device ops it launched.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column rank: int, global rank
// column step: int, number of the ProfilerStep
// column ops: int, host ops in it
// column self_ns: int, their own time, on all threads; null where none has times
// column calls: int, communication calls it made
// column device_ops: int, device ops its host ops launched
// column device_ns: int, their time, on all streams
MATCH (n:HostOp)
WHERE n.run = $run AND n.step IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
WITH n.rank AS rank, n.step AS step, n.self_ns AS own, n.comm_kind AS comm_kind,
     [(n)-[:CTRL]->(:RuntimeCall)-[:LAUNCHES]->(k:Kernel) | coalesce(k.duration_ns, 0)] AS lasts
WITH rank, step, count(*) AS ops, sum(own) AS own, count(own) AS timed, count(comm_kind) AS calls,
     sum(size(lasts)) AS device_ops, sum(reduce(total = 0, one IN lasts | total + one)) AS device_ns
RETURN rank, step, ops, CASE WHEN timed > 0 THEN own END AS self_ns, calls, device_ops, device_ns
ORDER BY rank, step
