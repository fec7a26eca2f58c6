// The findings kept in the run, counted by severity, rule and status; errors first.
// param run: text, the run asked
// column severity: text, error, warning or note
// column rule: text, the rule that found them
// column status: text, open or repaired
// column findings: int, how many
// column nodes: int, nodes they concern
// column ranks: int, ranks they concern; a finding on the whole run concerns none
MATCH (f:Finding)
WHERE f.run = $run
WITH f, CASE f.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END AS place
WITH place, f.severity AS severity, f.rule AS rule, f.status AS status, count(*) AS findings,
     sum(f.subjects) AS nodes, count(DISTINCT f.rank) AS ranks
RETURN severity, rule, status, findings, nodes, ranks
ORDER BY place, rule, status, severity
