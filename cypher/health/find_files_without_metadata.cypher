// Chakra files that begin with a node: readers of the format take the first record as metadata, so the node is lost.
// It was read here.
// check: no_metadata   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file
// column subject: int, uid of the file
// column file: text, its name
MATCH (f:TraceFile)
WHERE f.run = $run AND f.metadata_missing
RETURN f.rank AS rank, f.uid AS subject, f.name AS file
ORDER BY rank, file, subject
