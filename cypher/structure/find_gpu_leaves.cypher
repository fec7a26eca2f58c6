// Ranks whose device ops were read with their edges (merged trace, Chakra file) and have no successor at all:
// a replay of such a file orders nothing on the device.
// check: gpu_leaves   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column gpu_nodes: int, device ops
// column with_successors: int, of these, with a successor
// column subjects: list[int], uids of the first 100
MATCH (n:Kernel|ChakraNode)
WHERE n.run = $run AND n.node_id IS NOT NULL AND (n.kind = 'Kernel' OR n.is_cpu_op = false)
WITH n.rank AS rank, n.uid AS uid, CASE WHEN EXISTS { MATCH (n)-[e:CTRL|DATA|SYNC]->() WHERE NOT coalesce(e.rule, '') CONTAINS '.' } THEN 1 ELSE 0 END AS followed
ORDER BY uid
WITH rank, count(*) AS gpu_nodes, sum(followed) AS with_successors, collect(uid) AS uids
WHERE with_successors = 0
RETURN rank, gpu_nodes, with_successors, uids[0..100] AS subjects
ORDER BY rank
