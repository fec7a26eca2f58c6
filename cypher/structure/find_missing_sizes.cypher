// Communication nodes of a Chakra file without comm_size (a barrier has none).
// check: missing_size   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column nodes: int, communication nodes without a size
// column of: int, communication nodes in all
// column subjects: list[int], uids of the first 100 without
MATCH (n:ChakraNode)
WHERE n.run = $run AND n.chakra_kind STARTS WITH 'COMM_' AND coalesce(n.comm_kind, '') <> 'barrier'
WITH n ORDER BY n.uid
WITH n.rank AS rank, count(*) AS of, collect(CASE WHEN n.size_bytes IS NULL THEN n.uid END) AS uids
WHERE size(uids) > 0
RETURN rank, size(uids) AS nodes, of, uids[0..100] AS subjects
ORDER BY rank
