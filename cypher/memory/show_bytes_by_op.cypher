// Which ops read and write most: bytes of the tensors they took and returned, by name, those of inner ops apart.
// Only ops that call no other op are counted, so that no tensor counts twice on its way down the call tree.
// param run: text, the run asked
// param rank: int = null, only this global rank
// param count: int = 50, how many names, those that read most first
// column name: text, name of the ops
// column ops: int, how many
// column input_bytes: int, sum of the bytes they took
// column output_bytes: int, sum of the bytes they returned
// column largest_input_bytes: int, the most one of them took
// column self_ns: int, sum of their own time on the host
MATCH (op:HostOp)
WHERE op.run = $run AND op.input_bytes + op.output_bytes > 0 AND ($rank IS NULL OR op.rank = $rank)
  AND NOT EXISTS { (op)-[:CTRL]->(:HostOp) }
RETURN op.name AS name, count(*) AS ops, sum(op.input_bytes) AS input_bytes, sum(op.output_bytes) AS output_bytes,
       max(op.input_bytes) AS largest_input_bytes, sum(op.self_ns) AS self_ns
ORDER BY input_bytes DESC, name
LIMIT $count
