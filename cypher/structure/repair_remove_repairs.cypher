// Remove the repairs of a run, after undo has turned round what they did.
// writes: Repair
// column repairs: int, repairs removed
MATCH (r:Repair)
WHERE r.run = $run
DETACH DELETE r
RETURN count(*) AS repairs
