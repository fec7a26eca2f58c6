// Flight Recorder dumps with entries that time and order join to different calls of the traces: to none, then.
// check: entry_join_disagrees   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file
// column subject: int, uid of the file
// column file: text, its name
// column joined: int, entries that are a call of the traces
// column disagree: int, entries that were joined to none for this
MATCH (f:TraceFile)
WHERE f.run = $run AND f.entry_joins_disagree > 0
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.entries_joined AS joined, f.entry_joins_disagree AS disagree
ORDER BY rank, file, subject
