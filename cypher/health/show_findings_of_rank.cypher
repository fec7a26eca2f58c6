// The findings that concern one rank, errors first; those on the whole run where no rank is given.
// param run: text, the run asked
// param rank: int = null, global rank
// column severity: text, error, warning or note
// column rule: text, the rule that found it
// column message: text, the fact
// column status: text, open or repaired
// column nodes: int, nodes it concerns
// column fid: text, key of the finding
MATCH (f:Finding)
WHERE f.run = $run AND (f.rank = $rank OR ($rank IS NULL AND f.rank IS NULL))
WITH f, CASE f.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END AS place
RETURN f.severity AS severity, f.rule AS rule, f.message AS message, f.status AS status, f.subjects AS nodes,
       f.fid AS fid
ORDER BY place, fid
