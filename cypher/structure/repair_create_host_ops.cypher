// Create the synthetic host ops of a repair (a process root that the trace lacks).
// param rows: rows, {uid, properties} with those of a HostOp, synthetic and repair included
// writes: HostOp
// column ops: int, ops created
UNWIND $rows AS row
MERGE (n:Op {uid: row.uid})
SET n += row.properties, n.run = $run
SET n:HostOp
RETURN count(*) AS ops
