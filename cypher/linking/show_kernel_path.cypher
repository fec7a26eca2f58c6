// The way from a device op up to the top of the call tree: launch, host ops, step, thread.
// param run: text, the run asked
// param kernel: int, uid of the device op
// column up: int, edges between
// column uid: int, what lies above
// column kind: text, RuntimeCall or HostOp
// column name: text, its name
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
MATCH p = (k:Op {uid: $kernel})<-[:LAUNCHES|CTRL*1..1000]-(above:Op)
WHERE k.run = $run
RETURN length(p) AS up, above.uid AS uid, above.kind AS kind, above.name AS name, above.start_ns AS start_ns,
       above.duration_ns AS duration_ns
ORDER BY up, uid
