// Dependencies of a Chakra file on ids that no node of the file has (0 is an id like any other).
// Nodes and dependencies are grouped by the id they have or name: an id without a node is absent. Edges are not
// asked: a repair may have dropped one between two nodes that are there.
// check: dangling_dep   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column field: text, ctrl_deps or data_deps
// column deps: int, dependencies on absent ids
// column absent: int, how many different ids are absent
// column absent_ids: list[int], the first 100 of these ids
// column subjects: list[int], uids: for each of these ids the first node that names it
MATCH (n:ChakraNode)
WHERE n.run = $run
WITH n, coalesce(n.ctrl_deps, []) AS ctrl, coalesce(n.data_deps, []) AS data
UNWIND range(0, size(ctrl) + size(data)) AS place
WITH n.rank AS rank, n.uid AS uid,
     CASE WHEN place = 0 THEN n.node_id WHEN place <= size(ctrl) THEN ctrl[place - 1]
          ELSE data[place - size(ctrl) - 1] END AS named,
     CASE WHEN place = 0 THEN 'node' WHEN place <= size(ctrl) THEN 'ctrl_deps' ELSE 'data_deps' END AS role
WITH rank, named, sum(CASE WHEN role = 'node' THEN 1 ELSE 0 END) AS nodes,
     sum(CASE WHEN role = 'ctrl_deps' THEN 1 ELSE 0 END) AS ctrl, min(CASE WHEN role = 'ctrl_deps' THEN uid END) AS c,
     sum(CASE WHEN role = 'data_deps' THEN 1 ELSE 0 END) AS data, min(CASE WHEN role = 'data_deps' THEN uid END) AS d
WHERE nodes = 0
UNWIND ['ctrl_deps', 'data_deps'] AS field
WITH rank, field, named, CASE WHEN field = 'ctrl_deps' THEN ctrl ELSE data END AS times,
     CASE WHEN field = 'ctrl_deps' THEN c ELSE d END AS uid
WHERE times > 0
WITH rank, field, named, times, uid ORDER BY rank, field, named
WITH rank, field, sum(times) AS deps, count(*) AS absent, collect(named) AS ids, collect(uid) AS uids
RETURN rank, field, deps, absent, ids[0..100] AS absent_ids, uids[0..100] AS subjects
ORDER BY rank, field
