// Ties findings to the ranks they are about.
// writes: ABOUT
// param run: text, the run
// param rows: rows, fid, uid of the rank and its role
// column edges: int, how many
UNWIND $rows AS row
MATCH (f:Finding {fid: row.fid}), (n:Rank {uid: row.uid})
WHERE n.run = $run
MERGE (f)-[about:ABOUT]->(n)
SET about.role = row.role
RETURN count(*) AS edges
