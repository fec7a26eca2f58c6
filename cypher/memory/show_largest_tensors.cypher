// The host ops that returned the most bytes of tensors. Of an op and its caller that return as many, which are the
// same tensors, only the caller is told; views count with their own elements. Execution traces alone say this.
// param run: text, the run asked
// param rank: int = null, only this global rank
// param count: int = 20, how many
// column rank: int, global rank
// column output_bytes: int, bytes of the tensors it returned
// column name: text, name
// column shapes: json, shapes of its outputs
// column types: json, types of its outputs
// column node_id: int, id in the trace
// column start_ns: int, start since the run's origin
// column uid: int, the op
MATCH (op:HostOp)
WHERE op.run = $run AND op.output_bytes > 0 AND ($rank IS NULL OR op.rank = $rank)
  AND NOT EXISTS { (op)<-[:CTRL]-(above:HostOp) WHERE above.output_bytes = op.output_bytes }
RETURN op.rank AS rank, op.output_bytes AS output_bytes, op.name AS name, op.output_shapes AS shapes,
       op.output_types AS types, op.node_id AS node_id, op.start_ns AS start_ns, op.uid AS uid
ORDER BY output_bytes DESC, uid
LIMIT $count
