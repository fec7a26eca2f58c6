// Files whose rank nothing says: it was assumed.
// check: rank_assumed   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column kind: text, kind of the file
MATCH (f:TraceFile)
WHERE f.run = $run AND f.rank_origin = 'assumed'
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.kind AS kind
ORDER BY rank, file, subject
