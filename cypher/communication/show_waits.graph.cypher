// Who waits for whom in a job that hangs: rank, the collective it stands in, the ranks which that one lacks.
// param run: text, the run asked
// column path: path, rank → collective, collective → rank, or rank → rank
MATCH path = (r:Rank)-[:WAITS_FOR]->(at:Rank|Collective)
WHERE r.run = $run
RETURN path AS path
UNION ALL
MATCH path = (c:Collective)-[:WAITS_FOR]->(lacks:Rank)
WHERE c.run = $run
RETURN path AS path
