// Execution trace and Kineto trace of one rank that differ in pid, date or world size: they may be of two runs.
// check: different_runs   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column partner: text, the other file
// column mismatch: text, what differs
MATCH (f:TraceFile)
WHERE f.run = $run AND f.mismatch IS NOT NULL
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.partner AS partner, f.mismatch AS mismatch
ORDER BY rank, file, subject
