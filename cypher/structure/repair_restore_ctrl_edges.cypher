// Make recorded CTRL edges again: they carry no property, as the import wrote them.
// param rows: rows, {src, dst} with uids
// writes: CTRL
// column edges: int, edges made
UNWIND $rows AS row
MATCH (a:Op {uid: row.src}), (b:Op {uid: row.dst})
WHERE a.run = $run
CREATE (a)-[:CTRL]->(b)
RETURN count(*) AS edges
