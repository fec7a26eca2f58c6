// As which ops the communication calls of a rank were seen: one row a role, the ends as parallel lists.
// internal: export
// param run: text, the run
// param rank: int, global rank
// column role: text, host_op (the call itself), worker (the backend's thread) or kernel
// column call_uid: list[int], keys of the calls
// column op_uid: list[int], keys of the ops
MATCH (c:Op)-[r:SEEN_AS]->(n:Op) WHERE c.run = $run AND c.rank = $rank
RETURN r.rule AS role, collect(c.uid) AS call_uid, collect(n.uid) AS op_uid ORDER BY role
