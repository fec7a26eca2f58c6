// Findings by run and rule, as the last check of each run kept them: which run is the first with a fault.
// param runs: list[text], the runs asked
// column run: text, the run
// column rule: text, rule that found them
// column severity: text, error, warning or note
// column status: text, open or repaired
// column findings: int, how many
// column subjects: int, nodes they concern
MATCH (f:Finding)
WHERE f.run IN $runs
RETURN f.run AS run, f.rule AS rule, f.severity AS severity, f.status AS status, count(*) AS findings,
       sum(f.subjects) AS subjects
ORDER BY run, rule, severity, status
