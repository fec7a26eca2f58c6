// Keep what a repair did: one node a rule and rank, with its reason, evidence, and old and new values.
// param rows: rows, {rid, properties} with those of a Repair
// writes: Repair
// column repairs: int, repairs kept
UNWIND $rows AS row
MERGE (r:Repair {rid: row.rid})
SET r += row.properties, r.run = $run
RETURN count(*) AS repairs
