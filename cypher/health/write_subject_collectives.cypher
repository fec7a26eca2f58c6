// Ties findings to the collectives they are about.
// writes: ABOUT
// param run: text, the run
// param rows: rows, fid, uid of the collective and its role
// column edges: int, how many
UNWIND $rows AS row
MATCH (f:Finding {fid: row.fid}), (n:Collective {uid: row.uid})
WHERE n.run = $run
MERGE (f)-[about:ABOUT]->(n)
SET about.role = row.role
RETURN count(*) AS edges
