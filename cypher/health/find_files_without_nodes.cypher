// Chakra files that hold no node: some readers abort on them.
// check: no_nodes   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file
// column subject: int, uid of the file
// column file: text, its name
MATCH (f:TraceFile)
WHERE f.run = $run AND f.kind = 'chakra_et' AND f.records_read = 0 AND f.problem IS NULL AND f.cut_at IS NULL
RETURN f.rank AS rank, f.uid AS subject, f.name AS file
ORDER BY rank, file, subject
