// The findings on absent parents, the ops that name one, and what these call: what hangs loose.
// Asks the findings that a check has kept.
// param run: text, the run asked
// column path: path, a finding and an orphan, or an orphan and an op it calls
MATCH path = (f:Finding)-[:ABOUT]->(orphan:Op)
WHERE f.run = $run AND f.rule = 'missing_parent'
RETURN path AS path
UNION ALL
MATCH path = (f:Finding)-[:ABOUT]->(orphan:Op)-[:CTRL]->(called:Op)
WHERE f.run = $run AND f.rule = 'missing_parent'
RETURN path AS path
