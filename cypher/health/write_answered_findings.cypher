// Findings of an earlier check that are found no more and that a repair answers: they stay, as repaired.
// writes: Finding
// param run: text, the run
// param fids: list[text], findings of this check
// column findings: int, how many
MATCH (f:Finding)
WHERE f.run = $run AND NOT f.fid IN $fids AND EXISTS { (f)<-[:MADE]-() }
SET f.status = 'repaired'
RETURN count(*) AS findings
