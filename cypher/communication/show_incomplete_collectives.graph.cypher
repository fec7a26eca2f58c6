// The collectives that are not settled, with their groups and the calls there are; 300 paths at most.
// param run: text, the run asked
// column path: path, a collective and its group, or a collective and a call
MATCH path = (c:Collective)-[:IN_GROUP]->(g:ProcessGroup)
WHERE c.run = $run AND (NOT c.verdict IN ['MATCHED', 'EVICTED'] OR c.in_flight = true)
RETURN path AS path ORDER BY c.uid, g.uid LIMIT 100
UNION ALL
MATCH path = (c:Collective)<-[:CALL_OF]-(part:CollectiveCall)
WHERE c.run = $run AND (NOT c.verdict IN ['MATCHED', 'EVICTED'] OR c.in_flight = true)
RETURN path AS path ORDER BY c.uid, part.uid LIMIT 200
