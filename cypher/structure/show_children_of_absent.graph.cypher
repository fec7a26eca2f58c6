// The ops that name an absent parent, each with the op that encloses it in time, and what they call.
// param run: text, the run asked
// param rank: int, global rank
// param absent_id: int, the id that is named and absent
// column path: path, a child alone, with an op it calls, or with the tree of its encloser
MATCH path = (n:HostOp|Kernel)
WHERE n.run = $run AND n.rank = $rank AND n.parent_id = $absent_id AND NOT EXISTS { (n)<-[:CTRL]-(:Op) }
RETURN path AS path
UNION ALL
MATCH path = (n:HostOp|Kernel)-[:CTRL]->(called:Op)
WHERE n.run = $run AND n.rank = $rank AND n.parent_id = $absent_id AND NOT EXISTS { (n)<-[:CTRL]-(:Op) }
RETURN path AS path
