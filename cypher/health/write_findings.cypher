// Keeps the findings of a check; one that was there takes the new values. The severity is a second label, too:
// a graph view colours by label.
// writes: Finding
// param run: text, the run
// param rows: rows, fid and properties of each
// column findings: int, how many
UNWIND $rows AS row
MERGE (f:Finding {fid: row.fid})
SET f += row.properties
WITH f WHERE f.run = $run
REMOVE f:Error:Warning:Note
FOREACH (one IN CASE WHEN f.severity = 'error' THEN [1] ELSE [] END | SET f:Error)
FOREACH (one IN CASE WHEN f.severity = 'warning' THEN [1] ELSE [] END | SET f:Warning)
FOREACH (one IN CASE WHEN f.severity = 'note' THEN [1] ELSE [] END | SET f:Note)
RETURN count(*) AS findings
