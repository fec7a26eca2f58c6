// Where the tensors of an op come from and where they go, two steps each way.
// param run: text, the run asked
// param op: int, uid of the op
// column path: path, from the op to a producer or to a consumer
MATCH path = (op:Op {uid: $op})<-[:DATA*1..2]-(producer:Op)
WHERE op.run = $run
RETURN path AS path ORDER BY length(path), producer.uid LIMIT 100
UNION ALL
MATCH path = (op:Op {uid: $op})-[:DATA*1..2]->(consumer:Op)
WHERE op.run = $run
RETURN path AS path ORDER BY length(path), consumer.uid LIMIT 100
