// Ops whose tensors are taken by the most others: parameters, inputs, and what many branches share.
// param run: text, the run asked
// param rank: int = null, only this global rank
// param count: int = 20, how many
// column rank: int, global rank
// column consumers: int, ops that take a storage from it
// column name: text, name
// column output_bytes: int, bytes of the tensors it returned
// column node_id: int, id in the trace
// column start_ns: int, start since the run's origin
// column uid: int, the op
MATCH (op:HostOp)
WHERE op.run = $run AND ($rank IS NULL OR op.rank = $rank) AND EXISTS { (op)-[:DATA]->(:Op) }
RETURN op.rank AS rank, COUNT { (op)-[:DATA]->(:Op) } AS consumers, op.name AS name, op.output_bytes AS output_bytes,
       op.node_id AS node_id, op.start_ns AS start_ns, op.uid AS uid
ORDER BY consumers DESC, uid
LIMIT $count
