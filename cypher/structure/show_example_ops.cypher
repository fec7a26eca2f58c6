// One op of a rank for each kind of picture: an op (no annotation, whose tree is too large to read) that calls
// others, one that launches, one that tensors pass, a device op. The longest where times are known, else the first.
// internal: the kit for Neo4j Browser
// param run: text, the run asked
// param rank: int, global rank
// column picture: text, tree, launches, flow or kernel; one without an op has no row
// column uid: int, the op
// column name: text, its name
MATCH (op:HostOp)-[:CTRL]->(called:HostOp)-[:CTRL]->(:Op)
WHERE op.run = $run AND op.rank = $rank AND op.depth > 1 AND coalesce(op.category, '') <> 'user_annotation'
WITH DISTINCT op
RETURN 'tree' AS picture, op.uid AS uid, op.name AS name
ORDER BY coalesce(op.duration_ns, 0) DESC, uid LIMIT 1
UNION ALL
MATCH (op:HostOp)-[:CTRL]->(launch:RuntimeCall)-[:LAUNCHES]->(k:Kernel)
WHERE op.run = $run AND op.rank = $rank
RETURN 'launches' AS picture, op.uid AS uid, op.name AS name
ORDER BY coalesce(k.duration_ns, 0) DESC, uid, k.uid, launch.uid LIMIT 1
UNION ALL
MATCH (op:HostOp)
WHERE op.run = $run AND op.rank = $rank AND EXISTS { (op)<-[:DATA]-(:Op) } AND EXISTS { (op)-[:DATA]->(:Op) }
RETURN 'flow' AS picture, op.uid AS uid, op.name AS name
ORDER BY coalesce(op.duration_ns, 0) DESC, uid LIMIT 1
UNION ALL
MATCH (k:Kernel)<-[:LAUNCHES]-(:Op)
WHERE k.run = $run AND k.rank = $rank
WITH DISTINCT k
RETURN 'kernel' AS picture, k.uid AS uid, k.name AS name
ORDER BY coalesce(k.duration_ns, 0) DESC, uid LIMIT 1
