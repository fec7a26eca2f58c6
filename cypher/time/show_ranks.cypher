// The ranks side by side: how much each holds, when it began and ended, and where its time went.
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
WITH n, CASE WHEN n.kind = 'HostOp' THEN 1 ELSE 0 END AS host
WITH n.rank AS rank, sum(host) AS host_ops, min(CASE WHEN host = 1 THEN n.start_ns END) AS start_ns,
     max(CASE WHEN host = 1 THEN n.start_ns + n.duration_ns END) AS end_ns, sum(n.self_ns) AS self_ns,
     sum(1 - host) AS calls, sum(n.exposed_ns) AS exposed_ns, sum(n.wait_ns) AS wait_ns
MATCH (r:Rank)
WHERE r.run = $run AND r.rank = rank
RETURN rank, host_ops, start_ns, end_ns, self_ns, r.device_busy_ns AS device_busy_ns,
       r.computing_ns AS computing_ns, calls, exposed_ns, wait_ns
ORDER BY rank, r.uid
