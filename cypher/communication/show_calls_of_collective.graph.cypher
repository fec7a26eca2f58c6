// One collective: its group with the member ranks, the calls of the ranks, and the ops that each is seen as.
// param run: text, the run asked
// param group: text, group key: name and members
// param collective_seq_id: int, number within the group
// column path: path, collective, group and rank; or collective, call and op
MATCH path = (c:Collective)-[:IN_GROUP]->(g:ProcessGroup)<-[:MEMBER]-(r:Rank)
WHERE c.run = $run AND c.group = $group AND c.collective_seq_id = $collective_seq_id
RETURN path AS path
UNION ALL
MATCH path = (c:Collective)<-[:CALL_OF]-(part:CollectiveCall)
WHERE c.run = $run AND c.group = $group AND c.collective_seq_id = $collective_seq_id
RETURN path AS path
UNION ALL
MATCH path = (c:Collective)<-[:CALL_OF]-(part:CollectiveCall)-[:SEEN_AS]->(op:Op)
WHERE c.run = $run AND c.group = $group AND c.collective_seq_id = $collective_seq_id
RETURN path AS path
