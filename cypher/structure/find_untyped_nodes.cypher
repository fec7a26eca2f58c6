// Nodes of a Chakra file without a type, or of one that the format does not know: what waits for them may never run.
// check: no_type   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column nodes: int, such nodes
// column subjects: list[int], uids of the first 100
MATCH (n:ChakraNode)
WHERE n.run = $run
  AND NOT n.chakra_kind IN ['METADATA_NODE', 'MEM_LOAD_NODE', 'MEM_STORE_NODE', 'COMP_NODE', 'COMM_SEND_NODE',
                            'COMM_RECV_NODE', 'COMM_COLL_NODE']
WITH n ORDER BY n.uid
WITH n.rank AS rank, count(*) AS nodes, collect(n.uid) AS uids
RETURN rank, nodes, uids[0..100] AS subjects
ORDER BY rank
