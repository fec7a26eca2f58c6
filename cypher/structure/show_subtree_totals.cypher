// All that lies below an op, at any depth, summed by kind and name: calls on the host and what they launch.
// param run: text, the run asked
// param op: int, uid of the op
// column kind: text, HostOp, RuntimeCall or Kernel
// column name: text, the name
// column ops: int, how many
// column self_ns: int, time of their own; of runtime calls and device ops all of it
MATCH (n:Op {uid: $op})-[:CTRL|LAUNCHES*1..1000]->(below:Op)
WHERE n.run = $run
WITH DISTINCT below
RETURN below.kind AS kind, below.name AS name, count(*) AS ops,
       sum(coalesce(below.self_ns, below.duration_ns)) AS self_ns
ORDER BY self_ns DESC, kind, name
