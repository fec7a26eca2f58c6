// Findings that stand open, by run and severity, as the last check of each run kept them.
// param runs: list[text], the runs asked
// column run: text, the run
// column severity: text, error, warning or note
// column findings: int, how many
MATCH (f:Finding)
WHERE f.run IN $runs AND f.status = 'open'
RETURN f.run AS run, f.severity AS severity, count(*) AS findings
ORDER BY run, severity
