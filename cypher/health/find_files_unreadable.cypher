// Files of which nothing was read, and why.
// check: file_unreadable   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column problem: text, why
MATCH (f:TraceFile)
WHERE f.run = $run AND f.problem IS NOT NULL
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.problem AS problem
ORDER BY rank, file, subject
