// The call tree below an op, with what it launches on the device, in order of time.
// param run: text, the run asked
// param op: int, uid of the op
// param levels: int = 3, how many steps down
// param count: int = 200, how many at most
// column down: int, steps below the op
// column uid: int, what lies there
// column caller: int, uid of what is above it
// column kind: text, HostOp, RuntimeCall or Kernel
// column name: text, its name
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
// column self_ns: int, of this a host op's own
MATCH p = (n:Op {uid: $op})-[:CTRL|LAUNCHES*1..1000]->(below:Op)
WHERE n.run = $run AND length(p) <= $levels
WITH length(p) AS down, below, nodes(p)[length(p) - 1] AS above
RETURN down, below.uid AS uid, above.uid AS caller, below.kind AS kind, below.name AS name,
       below.start_ns AS start_ns, below.duration_ns AS duration_ns, below.self_ns AS self_ns
ORDER BY start_ns, down, uid
LIMIT $count
