// Which ops make the communication: calls by kind and by the name of the op that calls their host op.
// param run: text, the run asked
// param rank: int = null, only the calls of this global rank
// column caller: text, name of the calling op; null for a call at the top of its thread
// column name: text, name of the call's host op
// column collective_kind: text, all_reduce, send …
// column calls: int, how many
// column size_bytes: int, sum of their input bytes, as far as the files say
// column duration_ns: int, sum of their measured times
MATCH (c:CollectiveCall)-[seen:SEEN_AS]->(op:HostOp)
WHERE c.run = $run AND seen.rule = 'host_op' AND ($rank IS NULL OR c.rank = $rank)
OPTIONAL MATCH (op)<-[:CTRL]-(above:HostOp)
WITH c, op.name AS name, above.name AS caller
RETURN caller, name, c.collective_kind AS collective_kind, count(*) AS calls, sum(c.size_bytes) AS size_bytes,
       sum(c.duration_ns) AS duration_ns
ORDER BY duration_ns DESC, caller, name, collective_kind
