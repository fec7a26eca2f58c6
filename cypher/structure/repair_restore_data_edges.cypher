// Make recorded DATA edges again.
// param rows: rows, {src, dst} with uids
// writes: DATA
// column edges: int, edges made
UNWIND $rows AS row
MATCH (a:Op {uid: row.src}), (b:Op {uid: row.dst})
WHERE a.run = $run
CREATE (a)-[:DATA]->(b)
RETURN count(*) AS edges
