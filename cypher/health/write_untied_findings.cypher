// The subjects of findings that are found again are untied, to be tied anew.
// writes: ABOUT
// param run: text, the run
// param fids: list[text], findings of this check
// column edges: int, how many
MATCH (f:Finding)-[about:ABOUT]->()
WHERE f.run = $run AND f.fid IN $fids
DELETE about
RETURN count(*) AS edges
