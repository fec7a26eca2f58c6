// Kineto traces in which the External id of a device op names another op than the one that encloses its launch.
// check: external_id_disagrees   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column launches: int, launches inside a host op of their thread
// column disagree: int, of these, whose External id names another op
MATCH (f:TraceFile)
WHERE f.run = $run AND f.external_id_disagrees > 0
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.launches_enclosed AS launches, f.external_id_disagrees AS disagree
ORDER BY rank, file, subject
