// The findings kept in the run.
// param run: text, the run asked
// column fid: text, key of the finding
// column rule: text, the rule that found it
// column severity: text, error, warning or note
// column confidence: text, high, medium or low
// column message: text, the fact
// column evidence: json, what it rests on
// column rank: int, rank it concerns; null = the run
// column status: text, open or repaired
// column count: int, nodes it concerns
MATCH (f:Finding)
WHERE f.run = $run
RETURN f.fid AS fid, f.rule AS rule, f.severity AS severity, f.confidence AS confidence, f.message AS message,
       f.evidence AS evidence, f.rank AS rank, f.status AS status, f.subjects AS count
ORDER BY fid
