// Edges that say "before" (CTRL, DATA, SYNC) as columns, one row a rank and type, without those into an op that
// nothing follows: such an op is in no cycle. The cycles among them are found outside of the graph.
// check: cycle   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column edge_type: text, CTRL, DATA or SYNC
// column sources: list[int], uid of what comes first
// column targets: list[int], uid of what comes after, in the same order
MATCH (a:Op)-[e:CTRL|DATA|SYNC]->(b:Op)
WHERE a.run = $run AND EXISTS { (b)-[:CTRL|DATA|SYNC]->() }
WITH a.rank AS rank, type(e) AS edge_type, a.uid AS source, b.uid AS target
RETURN rank, edge_type, collect(source) AS sources, collect(target) AS targets
ORDER BY rank, edge_type
