// The device ops that an op launched, itself or through what it called, in order of time.
// param run: text, the run asked
// param op: int, uid of the op
// param count: int = 200, how many
// column uid: int, the device op
// column name: text, its name
// column work: text, computation, communication or memory
// column launched_by: text, name of the host op nearest above the launch
// column stream: int, its stream
// column launch_ns: int, start of its launch
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
MATCH (n:Op {uid: $op})-[:CTRL|LAUNCHES*1..1000]->(k:Kernel)
WHERE n.run = $run
WITH DISTINCT k
RETURN k.uid AS uid, k.name AS name, k.work AS work,
       head([(k)<-[:LAUNCHES]-(:RuntimeCall)<-[:CTRL]-(op:HostOp) | op.name]) AS launched_by, k.stream AS stream,
       head([(k)<-[:LAUNCHES]-(c:RuntimeCall) | c.start_ns]) AS launch_ns, k.start_ns AS start_ns,
       k.duration_ns AS duration_ns
ORDER BY start_ns, uid
LIMIT $count
