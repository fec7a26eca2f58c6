// Set node_id and its origin: of a span that a repair restores, or of an op that shared its id.
// param rows: rows, {uid, node_id, node_id_origin}
// writes: HostOp
// column ops: int, ops changed
UNWIND $rows AS row
MATCH (n:Op {uid: row.uid})
WHERE n.run = $run
SET n.node_id = row.node_id, n.node_id_origin = row.node_id_origin
RETURN count(*) AS ops
