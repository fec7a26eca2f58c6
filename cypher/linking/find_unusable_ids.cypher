// Kineto traces whose record function ids join nothing (0 on every op, absent, or one id on two ops) beside an
// execution trace: the match rests on the order of names.
// check: ids_unusable   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of the file; null for a file without
// column subject: int, uid of the file
// column file: text, its name
// column verdict: text, zero, absent or repeated
// column partner: text, the execution trace
// column method: text, how they were matched instead
// column candidates: int, ops that could have a Kineto event
// column matched: int, of these, matched
MATCH (f:TraceFile)
WHERE f.run = $run AND f.kind = 'kineto' AND f.rf_id_verdict IN ['zero', 'absent', 'repeated']
  AND EXISTS { (f)-[:ON_RANK]->(:Rank)<-[:ON_RANK]-(other:TraceFile) WHERE other.kind = 'et' }
RETURN f.rank AS rank, f.uid AS subject, f.name AS file, f.rf_id_verdict AS verdict, f.partner AS partner, f.link_method AS method, f.link_candidates AS candidates, f.link_matched AS matched
ORDER BY rank, file, subject
