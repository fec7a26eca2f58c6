// The findings of a run and what each is about, at most 10 nodes of a finding.
// param run: text, the run asked
// column path: path, a finding and a node it is about
MATCH (f:Finding)-[about:ABOUT]->(subject:Op|TraceFile|Rank|Collective|Run)
WHERE f.run = $run
WITH f, subject ORDER BY f.fid, subject.uid
WITH f, collect(subject.uid)[0..10] AS first
MATCH path = (f)-[:ABOUT]->(subject:Op|TraceFile|Rank|Collective|Run)
WHERE subject.uid IN first
RETURN path AS path
