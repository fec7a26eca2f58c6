// What called an op, from its caller up to the top of the call tree; of a device op its launch first.
// param run: text, the run asked
// param op: int, uid of the op
// column up: int, steps above the op
// column uid: int, what lies there
// column kind: text, HostOp or RuntimeCall
// column name: text, its name
// column node_id: int, id in the execution trace
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
MATCH p = (n:Op {uid: $op})<-[:CTRL|LAUNCHES*1..1000]-(above:Op)
WHERE n.run = $run
RETURN length(p) AS up, above.uid AS uid, above.kind AS kind, above.name AS name, above.node_id AS node_id,
       above.start_ns AS start_ns, above.duration_ns AS duration_ns
ORDER BY up, uid
