// CPU nodes of a Chakra file that wait by ctrl_deps for a kernel: it calls nothing on the host, so the ids of kernels
// and ops were mixed up when the file was written. Collectives are left out: host ops are written as such, too.
// check: cpu_under_gpu   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column nodes: int, such CPU nodes
// column subjects: list[int], uids of the first 100
MATCH (gpu:ChakraNode)-[:CTRL]->(n:ChakraNode)
WHERE gpu.run = $run AND n.run = $run AND gpu.is_cpu_op = false AND n.is_cpu_op = true
  AND gpu.chakra_kind = 'COMP_NODE'
WITH DISTINCT n.rank AS rank, n.uid AS uid
WITH rank, uid ORDER BY uid
WITH rank, count(*) AS nodes, collect(uid) AS uids
RETURN rank, nodes, uids[0..100] AS subjects
ORDER BY rank
