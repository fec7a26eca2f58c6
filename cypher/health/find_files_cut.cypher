// Files that end before they should: the whole records before the cut were read.
// check: file_cut   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column cut_at: text, where it ends
// column records: int, whole records read
MATCH (f:TraceFile)
WHERE f.run = $run AND f.cut_at IS NOT NULL
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.cut_at AS cut_at, f.records_read AS records
ORDER BY rank, file, subject
