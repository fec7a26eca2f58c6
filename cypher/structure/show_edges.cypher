// The recorded edges of one rank that say "before" (CTRL, DATA, SYNC, LAUNCHES) as columns, one row a type: for
// components and cycles, which no engine finds alike. Waits found from times (rule with a point) may join at any
// moment of an op and are left out. The lists are parallel, their order is open.
// internal: findings
// param run: text, the run asked
// param rank: int, global rank
// column edge_type: text, CTRL, DATA, SYNC or LAUNCHES
// column sources: list[int], uid of what comes first
// column targets: list[int], uid of what comes after, in the same order
MATCH (a:Op)-[e:CTRL|DATA|SYNC|LAUNCHES]->(b:Op)
WHERE a.run = $run AND a.rank = $rank AND NOT coalesce(e.rule, '') CONTAINS '.'
RETURN type(e) AS edge_type, collect(a.uid) AS sources, collect(b.uid) AS targets
ORDER BY edge_type
