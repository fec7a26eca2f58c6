// What one rank sent another within a group: each send, the recv that takes it, and the channel.
// param run: text, the run asked
// param group: text, group key: name and members
// param src: int, global rank that sends
// param dst: int, global rank that receives
// column path: path, the channel and a call, or a send and its recv
MATCH path = (c:Channel)<-[:CALL_OF]-(part:CollectiveCall)
WHERE c.run = $run AND c.group = $group AND c.src = $src AND c.dst = $dst
RETURN path AS path
UNION ALL
MATCH path = (c:Channel)<-[:CALL_OF]-(sent:CollectiveCall)-[:PEER]->(taken:CollectiveCall)
WHERE c.run = $run AND c.group = $group AND c.src = $src AND c.dst = $dst
RETURN path AS path
