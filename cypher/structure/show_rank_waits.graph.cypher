// Which op of a rank waited for which, as recorded or found by a rule; 300 waits at most, the latest first.
// param run: text, the run asked
// param rank: int, global rank
// column path: path, what was waited for and what waited
MATCH path = (a:Op)-[:SYNC]->(b:Op)
WHERE a.run = $run AND a.rank = $rank
RETURN path AS path ORDER BY b.start_ns DESC, a.uid, b.uid LIMIT 300
