// The recorded waits that point back in time, with both ends.
// internal: findings
// param run: text, the run asked
// column rank: int, global rank of what waits
// column waits: int, uid of what waits
// column waits_node_id: int, its id in the trace
// column waits_name: text, its name
// column awaited: int, uid of what is waited for
// column awaited_node_id: int, its id in the trace
// column awaited_name: text, its name
// column rule: text, what says so
// column back_ns: int, how far it goes back
MATCH (a:Op)-[e:SYNC]->(b:Op)
WHERE a.run = $run AND b.start_ns < a.start_ns AND NOT coalesce(e.rule, '') CONTAINS '.'
RETURN b.rank AS rank, b.uid AS waits, b.node_id AS waits_node_id, b.name AS waits_name, a.uid AS awaited,
       a.node_id AS awaited_node_id, a.name AS awaited_name, e.rule AS rule, a.start_ns - b.start_ns AS back_ns
ORDER BY waits, awaited
