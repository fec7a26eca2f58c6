// Files whose schema is unknown or absent, read because their fields fit.
// check: schema_unknown   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column schema: text, schema as written; null when absent
MATCH (f:TraceFile)
WHERE f.run = $run AND f.schema_known = false
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.schema AS schema
ORDER BY rank, file, subject
