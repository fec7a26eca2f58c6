// Make CTRL edges with their provenance: the new parents that a repair gives.
// param rows: rows, {parent and child as uids, repair, rule, confidence}
// writes: CTRL
// column edges: int, edges made
UNWIND $rows AS row
MATCH (a:Op {uid: row.parent}), (b:Op {uid: row.child})
WHERE a.run = $run
CREATE (a)-[e:CTRL]->(b) SET e.repair = row.repair, e.rule = row.rule, e.confidence = row.confidence
RETURN count(*) AS edges
