// Findings of an earlier check that are found no more and that no repair answers are removed.
// writes: Finding
// param run: text, the run
// param fids: list[text], findings of this check
// column findings: int, how many
MATCH (f:Finding)
WHERE f.run = $run AND NOT f.fid IN $fids AND NOT EXISTS { (f)<-[:MADE]-() }
DETACH DELETE f
RETURN count(*) AS findings
