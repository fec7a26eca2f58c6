// Communication nodes of a Chakra file that are marked is_cpu_op: simulators refuse them.
// check: communication_on_cpu   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column nodes: int, communication nodes marked so
// column of: int, communication nodes in all
// column subjects: list[int], uids of the first 100 marked so
MATCH (n:ChakraNode)
WHERE n.run = $run AND n.chakra_kind STARTS WITH 'COMM_'
WITH n ORDER BY n.uid
WITH n.rank AS rank, count(*) AS of, collect(CASE WHEN n.is_cpu_op THEN n.uid END) AS uids
WHERE size(uids) > 0
RETURN rank, size(uids) AS nodes, of, uids[0..100] AS subjects
ORDER BY rank
