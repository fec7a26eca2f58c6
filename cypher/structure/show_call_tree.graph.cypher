// What an op calls and launches, four steps down, 300 paths at most.
// param run: text, the run asked
// param op: int, uid of the op
// column path: path, from the op down
MATCH path = (op:Op {uid: $op})-[:CTRL|LAUNCHES*1..4]->(below:Op)
WHERE op.run = $run
RETURN path AS path ORDER BY length(path), below.start_ns, below.uid LIMIT 300
