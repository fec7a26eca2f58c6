// Pairs of execution trace and Kineto trace in which some op that could have a Kineto event has none.
// check: link_incomplete   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column partner: text, the execution trace
// column method: text, rf_id, name_order or none
// column candidates: int, ops that could have a Kineto event
// column matched: int, of these, matched
MATCH (f:TraceFile)
WHERE f.run = $run AND f.link_matched < f.link_candidates
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.partner AS partner, f.link_method AS method, f.link_candidates AS candidates, f.link_matched AS matched
ORDER BY rank, file, subject
