// All edges of one rank that say "before" (CTRL, DATA, SYNC, LAUNCHES) as columns, one row a type: for
// components and cycles, which no engine finds alike.
// param run: text, the run asked
// param rank: int, global rank
// column edge_type: text, CTRL, DATA, SYNC or LAUNCHES
// column sources: list[int], uid of what comes first
// column targets: list[int], uid of what comes after, in the same order
MATCH (a:Op)-[e:CTRL|DATA|SYNC|LAUNCHES]->(b:Op)
WHERE a.run = $run AND a.rank = $rank
WITH type(e) AS edge_type, a.uid AS source, b.uid AS target ORDER BY source, target
RETURN edge_type, collect(source) AS sources, collect(target) AS targets
ORDER BY edge_type
