// The ops that the findings kept in the run are tied to: at most 100 a finding.
// internal: export
// param run: text, the run asked
// column fid: text, key of the finding
// column uid: int, the op
// column rank: int, its rank
// column start_ns: int, its start since the run's origin; null where the files hold no time
MATCH (f:Finding)-[:ABOUT]->(n:Op)
WHERE f.run = $run
RETURN f.fid AS fid, n.uid AS uid, n.rank AS rank, n.start_ns AS start_ns
ORDER BY fid, uid
