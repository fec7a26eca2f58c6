// Set the status of findings: repaired when nothing of their cause is left, open again after an undo.
// param fids: list[text], keys of the findings
// param status: text, open or repaired
// writes: Finding
// column findings: int, findings changed
UNWIND $fids AS fid
MATCH (f:Finding {fid: fid})
WHERE f.run = $run
SET f.status = $status
RETURN count(*) AS findings
