// How much of each rank's device work is linked: device ops with a launch, and with a host op above it.
// param run: text, the run asked
// column rank: int, global rank
// column device_ops: int, how many
// column launched: int, of these, with a runtime call
// column with_host_op: int, of these, with a host op that made the call
// column percent: int, with_host_op of device_ops, rounded down
// column device_ns: int, time of the device ops
// column linked_ns: int, time of those with a host op
MATCH (k:Kernel)
WHERE k.run = $run
WITH k.rank AS rank, k.duration_ns AS lasts,
     CASE WHEN EXISTS { (k)<-[:LAUNCHES]-() } THEN 1 ELSE 0 END AS launched,
     CASE WHEN EXISTS { (k)<-[:LAUNCHES]-(:RuntimeCall)<-[:CTRL]-(:HostOp) } THEN 1 ELSE 0 END AS linked
WITH rank, count(*) AS device_ops, sum(launched) AS launched, sum(linked) AS with_host_op,
     sum(lasts) AS device_ns, sum(linked * coalesce(lasts, 0)) AS linked_ns
RETURN rank, device_ops, launched, with_host_op, 100 * with_host_op / device_ops AS percent, device_ns, linked_ns
ORDER BY rank
