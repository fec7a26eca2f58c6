// Dependencies of a Chakra file on ids that no node of the file has (0 is an id like any other).
// check: dangling_dep   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column field: text, ctrl_deps or data_deps
// column deps: int, dependencies on absent ids
// column absent_ids: list[int], the absent ids, at most 100
// column absent: int, how many different ids are absent
// column subjects: list[int], uids of the first 100 nodes that wait for one
MATCH (n:ChakraNode)
WHERE n.run = $run
UNWIND ['ctrl_deps', 'data_deps'] AS field
WITH n, field,
     CASE WHEN field = 'ctrl_deps' THEN coalesce(n.ctrl_deps, []) ELSE coalesce(n.data_deps, []) END AS deps,
     CASE WHEN field = 'ctrl_deps' THEN [(n)<-[:CTRL]-(a:Op) | a.node_id]
          ELSE [(n)<-[:DATA]-(a:Op) | a.node_id] END AS present
UNWIND [dep IN deps WHERE NOT dep IN present] AS absent_id
WITH n, field, absent_id ORDER BY n.uid, absent_id
WITH n.rank AS rank, field, count(*) AS deps, collect(DISTINCT absent_id) AS ids, collect(DISTINCT n.uid) AS uids
RETURN rank, field, deps, ids[0..100] AS absent_ids, size(ids) AS absent, uids[0..100] AS subjects
ORDER BY rank, field
