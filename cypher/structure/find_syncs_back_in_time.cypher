// Recorded waits that point back in time: what waits began before what it waits for. (A wait that was found from
// times, whose rule has a point, may end inside of what waits.)
// check: sync_back_in_time   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank of what waits
// column edges: int, such waits
// column back_ns: int, the longest time one goes back
// column subjects: list[int], uids of the first 100 ops that wait
MATCH (a:Op)-[e:SYNC]->(b:Op)
WHERE a.run = $run AND b.start_ns < a.start_ns AND NOT coalesce(e.rule, '') CONTAINS '.'
WITH a, b ORDER BY b.uid, a.uid
WITH b.rank AS rank, count(*) AS edges, max(a.start_ns - b.start_ns) AS back_ns, collect(b.uid) AS uids
RETURN rank, edges, back_ns, uids[0..100] AS subjects
ORDER BY rank
