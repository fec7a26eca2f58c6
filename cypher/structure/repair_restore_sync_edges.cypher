// Make SYNC edges: recorded ones again, or the order of a stream; `rule` says which.
// param rows: rows, {src, dst, rule} with uids
// writes: SYNC
// column edges: int, edges made
UNWIND $rows AS row
MATCH (a:Op {uid: row.src}), (b:Op {uid: row.dst})
WHERE a.run = $run
CREATE (a)-[e:SYNC]->(b) SET e.rule = row.rule
RETURN count(*) AS edges
