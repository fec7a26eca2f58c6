// Where the tensors come from that an op takes: the ops that returned their storage last, the latest first.
// param run: text, the run asked
// param op: int, uid of the op
// column uid: int, producing op
// column name: text, its name
// column node_id: int, its id in the trace
// column output_bytes: int, bytes of all tensors it returned
// column start_ns: int, its start since the run's origin
// column age_ns: int, from its end to the start of the op; null where times lack
MATCH (op:Op {uid: $op})<-[:DATA]-(source:HostOp)
WHERE op.run = $run
RETURN source.uid AS uid, source.name AS name, source.node_id AS node_id, source.output_bytes AS output_bytes,
       source.start_ns AS start_ns, op.start_ns - source.start_ns - source.duration_ns AS age_ns
ORDER BY coalesce(start_ns, -1) DESC, uid
