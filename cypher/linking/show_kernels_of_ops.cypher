// Which host ops launched which device ops, by names.
// param run: text, the run asked
// column op: text, name of the host op
// column kernel: text, name of the device op
// column launches: int, how often
// column device_ns: int, time of these device ops
MATCH (k:Kernel)<-[:LAUNCHES]-(:RuntimeCall)<-[:CTRL]-(n:HostOp)
WHERE k.run = $run
RETURN n.name AS op, k.name AS kernel, count(*) AS launches, sum(k.duration_ns) AS device_ns
ORDER BY device_ns DESC, op, kernel
