// Which ops make the communication: calls by kind and by the name of the op that calls their host op.
// param run: text, the run asked
// param rank: int = null, only the calls of this global rank
// column caller: text, name of the calling op; null for a call at the top of its thread
// column name: text, name of the call's host op
// column collective_kind: text, all_reduce, send …
// column calls: int, how many
// column size_bytes: int, sum of their input bytes, as far as the files say
// column duration_ns: int, sum of their measured times; null where none is known
MATCH (c:CollectiveCall)-[seen:SEEN_AS]->(op:HostOp)
WHERE c.run = $run AND seen.rule = 'host_op' AND ($rank IS NULL OR c.rank = $rank)
OPTIONAL MATCH (op)<-[:CTRL]-(above:HostOp)
WITH c, op.name AS name, above.name AS caller
WITH caller, name, c.collective_kind AS collective_kind, count(*) AS calls,
     sum(c.size_bytes) AS size_bytes, sum(c.duration_ns) AS lasts, count(c.duration_ns) AS timed
RETURN caller, name, collective_kind, calls, size_bytes, CASE WHEN timed > 0 THEN lasts END AS duration_ns
ORDER BY lasts DESC, caller, name, collective_kind
