// The collectives of one group in order; ranks that called the same thing at the same line share a row.
// Two rows with one number: from there the ranks differ. Collectives without a call in the graph do not come.
// param run: text, the run asked
// param group: text, group key: name and members
// param first_seq: int, first number within the group
// param last_seq: int, last number within the group
// column collective_seq_id: int, number within the group, the same on all ranks
// column verdict: text, what matching says of the collective
// column op_name: text, the call's own word
// column site: text, file:line that made the calls; null without frames
// column calls: int, how many
// column ranks: list[int], members that made them
MATCH (c:Collective)<-[:CALL_OF]-(comm:CollectiveCall)
WHERE c.run = $run AND c.group = $group AND c.collective_seq_id >= $first_seq AND c.collective_seq_id <= $last_seq
WITH c, comm ORDER BY comm.rank, comm.uid
RETURN c.collective_seq_id AS collective_seq_id, c.verdict AS verdict, comm.op_name AS op_name,
       comm.site AS site, count(*) AS calls, collect(comm.rank) AS ranks
ORDER BY collective_seq_id, calls DESC, op_name, site, verdict
