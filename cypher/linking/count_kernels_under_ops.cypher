// Which device ops the ops of a name launch, themselves or through what they call: how often, and how long.
// param run: text, the run asked
// param name: text, name of the host ops
// param rank: int = null, one rank alone
// column kernel: text, name of the device ops
// column work: text, computation, communication or memory
// column launches: int, how often
// column device_ns: int, time of these device ops
MATCH (n:HostOp)
WHERE n.run = $run AND n.name = $name AND ($rank IS NULL OR n.rank = $rank)
MATCH (n)-[:CTRL*1..1000]->(:RuntimeCall)-[:LAUNCHES]->(k:Kernel)
WITH DISTINCT k
RETURN k.name AS kernel, k.work AS work, count(*) AS launches, sum(k.duration_ns) AS device_ns
ORDER BY device_ns DESC, kernel, work
