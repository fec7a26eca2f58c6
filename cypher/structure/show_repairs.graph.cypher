// The repairs of a run, the findings they answer, and the edges they made.
// param run: text, the run asked
// column path: path, a repair and a finding with what it is about, or the two ends of an edge a repair made
MATCH path = (r:Repair)-[:MADE]->(f:Finding)
WHERE r.run = $run
RETURN path AS path
UNION ALL
MATCH path = (r:Repair)-[:MADE]->(f:Finding)-[:ABOUT]->(subject:Op)
WHERE r.run = $run
RETURN path AS path
UNION ALL
MATCH path = (above:Op)-[made:CTRL]->(below:Op)
WHERE above.run = $run AND made.repair IS NOT NULL
RETURN path AS path
