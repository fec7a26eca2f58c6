// Set the place in the CTRL forest of runtime calls and Chakra nodes whose tree was moved.
// param rows: rows, {uid, root, depth}
// writes: RuntimeCall, ChakraNode
// column ops: int, ops changed
UNWIND $rows AS row
MATCH (n:Op {uid: row.uid})
WHERE n.run = $run
SET n.root = row.root, n.depth = row.depth
RETURN count(*) AS ops
