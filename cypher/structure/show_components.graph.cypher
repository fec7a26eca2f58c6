// The tops of the call trees of a rank with what they call: each island is a component of the recorded calls.
// param run: text, the run asked
// param rank: int, global rank
// column path: path, a top and an op it calls
MATCH path = (top:HostOp)-[:CTRL]->(called:Op)
WHERE top.run = $run AND top.rank = $rank AND NOT EXISTS { (top)<-[:CTRL]-(:Op) }
RETURN path AS path ORDER BY top.uid, called.uid LIMIT 300
