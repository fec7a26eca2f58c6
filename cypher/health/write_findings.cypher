// Keeps the findings of a check; one that was there takes the new values.
// writes: Finding
// param run: text, the run
// param rows: rows, fid and properties of each
// column findings: int, how many
UNWIND $rows AS row
MERGE (f:Finding {fid: row.fid})
SET f += row.properties
WITH f WHERE f.run = $run
RETURN count(*) AS findings
