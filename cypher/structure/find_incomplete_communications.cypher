// Communication nodes of a Chakra file that lack what their type needs besides a size: a collective its comm_type,
// a send comm_dst and comm_tag, a recv comm_src and comm_tag.
// check: incomplete_communication   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column chakra_kind: text, type of the nodes
// column attribute: text, what they lack
// column nodes: int, how many lack it
// column subjects: list[int], uids of the first 100 of them
MATCH (n:ChakraNode)
WHERE n.run = $run AND n.chakra_kind STARTS WITH 'COMM_'
WITH n, coalesce(n.attributes, '{}') AS attributes
UNWIND ['comm_dst', 'comm_src', 'comm_tag', 'comm_type'] AS attribute
WITH n, attributes, attribute
WHERE CASE WHEN n.chakra_kind = 'COMM_COLL_NODE' THEN attribute = 'comm_type'
           WHEN n.chakra_kind = 'COMM_SEND_NODE' THEN attribute IN ['comm_dst', 'comm_tag']
           ELSE attribute IN ['comm_src', 'comm_tag'] END
  AND NOT attributes CONTAINS '"' + attribute + '":['
WITH n.rank AS rank, n.chakra_kind AS chakra_kind, attribute, n.uid AS uid ORDER BY uid
WITH rank, chakra_kind, attribute, count(*) AS nodes, collect(uid) AS uids
RETURN rank, chakra_kind, attribute, nodes, uids[0..100] AS subjects
ORDER BY rank, chakra_kind, attribute
