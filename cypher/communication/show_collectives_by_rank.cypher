// The collectives of one group in order, the calls of its ranks side by side: a row for each call.
// A collective whose calls are not in the graph has one row, without a rank.
// param run: text, the run asked
// param group: text, group key: name and members
// param first_seq: int, first number within the group
// param last_seq: int, last number within the group
// column collective_seq_id: int, number within the group, the same on all ranks
// column verdict: text, what matching says of the collective
// column rank: int, member that made the call
// column collective_kind: text, all_reduce, broadcast …
// column op_name: text, the call's own word
// column site: text, file:line that made the call; null without frames
// column state: text, as recorded: scheduled, started or completed
// column uid: int, the call
MATCH (c:Collective)
WHERE c.run = $run AND c.group = $group AND c.collective_seq_id >= $first_seq AND c.collective_seq_id <= $last_seq
OPTIONAL MATCH (c)<-[:CALL_OF]-(comm:CollectiveCall)
RETURN c.collective_seq_id AS collective_seq_id, c.verdict AS verdict, comm.rank AS rank,
       comm.collective_kind AS collective_kind, comm.op_name AS op_name, comm.site AS site, comm.state AS state,
       comm.uid AS uid
ORDER BY collective_seq_id, rank, uid, c.uid
