// The way from a device op up to the top of the call tree: launch, host ops, step, thread.
// param run: text, the run asked
// param kernel: int, uid of the device op
// column path: path, from the device op to the top
MATCH path = (k:Op {uid: $kernel})<-[:LAUNCHES|CTRL*1..1000]-(top:Op)
WHERE k.run = $run AND NOT EXISTS { (top)<-[:LAUNCHES|CTRL]-(:Op) }
RETURN path AS path
