// Nodes of a Chakra file that name one dependency twice in a field: one known feeder stalls on it.
// check: repeated_dep   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column field: text, ctrl_deps or data_deps
// column nodes: int, nodes that repeat a dependency
// column subjects: list[int], uids of the first 100 of them
MATCH (n:ChakraNode)
WHERE n.run = $run
UNWIND ['ctrl_deps', 'data_deps'] AS field
WITH n, field,
     CASE WHEN field = 'ctrl_deps' THEN coalesce(n.ctrl_deps, []) ELSE coalesce(n.data_deps, []) END AS deps
WHERE size(deps) > 1
UNWIND deps AS dep
WITH n.rank AS rank, n.uid AS uid, field, dep, count(*) AS times
WHERE times > 1
WITH DISTINCT rank, uid, field
WITH rank, uid, field ORDER BY uid, field
WITH rank, field, count(*) AS nodes, collect(uid) AS uids
RETURN rank, field, nodes, uids[0..100] AS subjects
ORDER BY rank, field
