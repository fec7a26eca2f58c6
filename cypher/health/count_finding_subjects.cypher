// How many nodes each finding is tied to, by the part they play (at most 100 a finding).
// param run: text, the run asked
// column fid: text, key of the finding
// column rule: text, the rule that found it
// column role: text, the part the nodes play
// column nodes: int, how many
MATCH (f:Finding)-[about:ABOUT]->(n:Op|TraceFile|Rank|Collective|Run)
WHERE f.run = $run
RETURN f.fid AS fid, f.rule AS rule, about.role AS role, count(*) AS nodes
ORDER BY fid, rule, role
