// Where the tensors go that an op returned: the ops that take their storage from it, in order of time.
// param run: text, the run asked
// param op: int, uid of the op
// column uid: int, consuming op
// column name: text, its name
// column node_id: int, its id in the trace
// column input_bytes: int, bytes of all tensors it took
// column start_ns: int, its start since the run's origin
// column age_ns: int, from the end of the op to its start; null where times lack
MATCH (op:Op {uid: $op})-[:DATA]->(target:HostOp)
WHERE op.run = $run
RETURN target.uid AS uid, target.name AS name, target.node_id AS node_id, target.input_bytes AS input_bytes,
       target.start_ns AS start_ns, target.start_ns - op.start_ns - op.duration_ns AS age_ns
ORDER BY coalesce(start_ns, -1), uid
