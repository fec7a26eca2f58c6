// The ops that the calls of one collective were seen as on each rank: host op, worker op and kernel.
// param run: text, the run asked
// param group: text, group key: name and members
// param collective_seq_id: int, number within the group
// column rank: int, member
// column call_uid: int, the call
// column role: text, host_op (the call itself), worker (the backend's thread) or kernel
// column uid: int, the op
// column name: text, its name
// column start_ns: int, its start
// column duration_ns: int, its duration
MATCH (c:Collective)<-[:CALL_OF]-(comm:CollectiveCall)-[seen:SEEN_AS]->(n:Op)
WHERE c.run = $run AND c.group = $group AND c.collective_seq_id = $collective_seq_id
RETURN comm.rank AS rank, comm.uid AS call_uid, seen.rule AS role, n.uid AS uid, n.name AS name,
       n.start_ns AS start_ns, n.duration_ns AS duration_ns
ORDER BY rank, call_uid, role, uid, c.uid
