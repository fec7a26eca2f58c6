// Host ops by name, with the time of the device ops they launch themselves, not through an op inside them.
// param run: text, the run asked
// param rank: int = null, one rank alone
// param count: int = 20, how many
// column name: text, name of the host ops
// column launching: int, host ops that launched something
// column device_ops: int, device ops they launched
// column device_ns: int, time of these
// column longest_ns: int, the longest of these
MATCH (k:Kernel)<-[:LAUNCHES]-(:RuntimeCall)<-[:CTRL]-(n:HostOp)
WHERE k.run = $run AND ($rank IS NULL OR k.rank = $rank)
RETURN n.name AS name, count(DISTINCT n.uid) AS launching, count(*) AS device_ops, sum(k.duration_ns) AS device_ns,
       max(k.duration_ns) AS longest_ns
ORDER BY device_ns DESC, name
LIMIT $count
