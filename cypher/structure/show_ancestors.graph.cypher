// The way from an op up to the top of its call tree: launch, host ops, step, thread.
// param run: text, the run asked
// param op: int, uid of the op
// column path: path, from the op to the top
MATCH path = (op:Op {uid: $op})<-[:CTRL|LAUNCHES*1..1000]-(top:Op)
WHERE op.run = $run AND NOT EXISTS { (top)<-[:CTRL|LAUNCHES]-(:Op) }
RETURN path AS path
