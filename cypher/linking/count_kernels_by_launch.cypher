// Device ops by how they are linked: launched, by a graph replay, before the window, launch lost, no correlation.
// param run: text, the run asked
// column rank: int, global rank
// column launch_class: text, the class
// column device_ops: int, how many
// column with_host_op: int, of these, linked to a host op
MATCH (k:Kernel)
WHERE k.run = $run
WITH k.rank AS rank, k.launch_class AS launch_class,
     CASE WHEN EXISTS { (k)<-[:LAUNCHES]-(:RuntimeCall)<-[:CTRL]-(:HostOp) } THEN 1 ELSE 0 END AS linked
RETURN rank, launch_class, count(*) AS device_ops, sum(linked) AS with_host_op
ORDER BY rank, launch_class
