// Remove the synthetic host ops that repairs created, with their edges.
// writes: HostOp
// column ops: int, ops removed
MATCH (n:HostOp)
WHERE n.run = $run AND n.synthetic = true
DETACH DELETE n
RETURN count(*) AS ops
