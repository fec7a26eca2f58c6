// A finding, what it is about, and what called that.
// param run: text, the run asked
// param fid: text, key of the finding
// column path: path, the finding and a node it is about, or such a node and its caller
MATCH path = (f:Finding {fid: $fid})-[:ABOUT]->(subject:Op|TraceFile|Rank|Collective|Run)
WHERE f.run = $run
RETURN path AS path
UNION ALL
MATCH path = (f:Finding {fid: $fid})-[:ABOUT]->(subject:Op)<-[:CTRL|LAUNCHES]-(caller:Op)
WHERE f.run = $run
RETURN path AS path
