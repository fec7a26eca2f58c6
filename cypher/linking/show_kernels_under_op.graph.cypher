// Every device op that an op launched, itself or through what it calls, with the chain that leads there.
// param run: text, the run asked
// param op: int, uid of the op
// column path: path, from the op to a device op
MATCH path = (op:Op {uid: $op})-[:CTRL|LAUNCHES*1..1000]->(k:Kernel)
WHERE op.run = $run
RETURN path AS path ORDER BY k.start_ns, k.uid LIMIT 100
