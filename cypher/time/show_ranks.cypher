// The ranks side by side: how much each holds, when it began and ended, and where its time went. What no file of
// a rank tells is null.
// param run: text, the run asked
// column rank: int, global rank
// column host_ops: int, host ops
// column start_ns: int, start of the first
// column end_ns: int, end of the last
// column self_ns: int, own time of the host ops on all threads
// column device_busy_ns: int, time in which a device op ran; null without device ops
// column computing_ns: int, of it, one that computes
// column calls: int, communication calls
// column exposed_ns: int, their time in which the rank computed nothing
// column wait_ns: int, their time until the last member had come
MATCH (n:HostOp|CollectiveCall)
WHERE n.run = $run
WITH n.rank AS rank, sum(CASE WHEN n.kind = 'HostOp' THEN 1 ELSE 0 END) AS host_ops,
     min(CASE WHEN n.kind = 'HostOp' THEN n.start_ns END) AS start_ns,
     max(CASE WHEN n.kind = 'HostOp' THEN n.start_ns + n.duration_ns END) AS end_ns,
     sum(CASE WHEN n.kind = 'HostOp' THEN 0 ELSE 1 END) AS calls, sum(n.self_ns) AS self_ns,
     sum(n.exposed_ns) AS exposed_ns, sum(n.wait_ns) AS wait_ns, count(n.self_ns) AS timed,
     count(n.exposed_ns) AS measured, count(n.wait_ns) AS compared
MATCH (r:Rank)
WHERE r.run = $run AND r.rank = rank
RETURN rank, host_ops, start_ns, end_ns, CASE WHEN timed > 0 THEN self_ns END AS self_ns,
       r.device_busy_ns AS device_busy_ns, r.computing_ns AS computing_ns, calls,
       CASE WHEN measured > 0 THEN exposed_ns END AS exposed_ns, CASE WHEN compared > 0 THEN wait_ns END AS wait_ns
ORDER BY rank, r.uid
