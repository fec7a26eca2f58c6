// Kineto traces in which linking by time alone (the latest op begun on any thread) would hang a launch off another
// op than the one that encloses it on its thread.
// check: link_by_time_disagrees   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column launches: int, launches inside a host op of their thread
// column disagree: int, of these, for which time alone says another op
MATCH (f:TraceFile)
WHERE f.run = $run AND f.time_link_disagrees > 0
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.launches_enclosed AS launches, f.time_link_disagrees AS disagree
ORDER BY rank, file, subject
