// What an op calls, one step down, in order of time.
// param run: text, the run asked
// param op: int, uid of the op
// column uid: int, what it calls
// column kind: text, HostOp or RuntimeCall
// column name: text, its name
// column called: int, how many it calls itself
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
// column self_ns: int, of this a host op's own
MATCH (n:Op {uid: $op})-[:CTRL]->(child:Op)
WHERE n.run = $run
RETURN child.uid AS uid, child.kind AS kind, child.name AS name, COUNT { (child)-[:CTRL]->() } AS called,
       child.start_ns AS start_ns, child.duration_ns AS duration_ns, child.self_ns AS self_ns
ORDER BY start_ns, uid
