// Set the place in the CTRL forest of host ops whose tree was moved.
// param rows: rows, {uid, root, depth, path}
// writes: HostOp
// column ops: int, ops changed
UNWIND $rows AS row
MATCH (n:Op {uid: row.uid})
WHERE n.run = $run
SET n.root = row.root, n.depth = row.depth, n.path = row.path
RETURN count(*) AS ops
