// The repairs that stand on a run, with the findings they answer.
// column rid: text, key
// column rule: text, rule of the repair
// column rank: int, rank it concerns
// column safe: bool, proven by time or by recorded ids
// column changes: int, number of changes
// column reason: text, why this is right
// column evidence: json, what it rests on
// column before: json, old values
// column after: json, new values
// column applied_at: text, when
// column findings: list[text], keys of the findings it answers
MATCH (r:Repair)
WHERE r.run = $run
RETURN r.rid AS rid, r.rule AS rule, r.rank AS rank, r.safe AS safe, r.changes AS changes, r.reason AS reason,
       r.evidence AS evidence, r.before AS before, r.after AS after, r.applied_at AS applied_at,
       [(r)-[:MADE]->(f:Finding) | f.fid] AS findings
ORDER BY rid
