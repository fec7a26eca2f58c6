// Collectives of a Chakra file of a type that ASTRA-sim does not simulate: it knows all_reduce, all_gather,
// reduce_scatter, all_to_all and broadcast. REDUCE_SCATTER_BLOCK, number 8 in the file, is none of them.
// check: unsupported_collective   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column comm_kind: text, the type
// column nodes: int, collectives of that type
// column subjects: list[int], uids of the first 100
MATCH (n:ChakraNode)
WHERE n.run = $run AND n.chakra_kind = 'COMM_COLL_NODE'
  AND (n.comm_kind IN ['reduce', 'gather', 'scatter', 'barrier']
       OR coalesce(n.attributes, '{}') CONTAINS '"comm_type":["int64",8]')
WITH n.rank AS rank, CASE WHEN n.comm_kind = 'reduce_scatter' THEN 'reduce_scatter_block' ELSE n.comm_kind END
     AS comm_kind, n.uid AS uid ORDER BY uid
WITH rank, comm_kind, count(*) AS nodes, collect(uid) AS uids
RETURN rank, comm_kind, nodes, uids[0..100] AS subjects
ORDER BY rank, comm_kind
