// Ties findings to the run they are about.
// writes: ABOUT
// param run: text, the run
// param rows: rows, fid and role
// column edges: int, how many
UNWIND $rows AS row
MATCH (f:Finding {fid: row.fid}), (n:Run {run: $run})
MERGE (f)-[about:ABOUT]->(n)
SET about.role = row.role
RETURN count(*) AS edges
