// Attributes of communication nodes of a Chakra file that not all readers can read: of another wire type than int64
// (peers and tags: int32 or int64). An unsigned comm_size reads as 0 in one known feeder.
// check: wire_type   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column attribute: text, the attribute
// column nodes: int, nodes that hold it as another type
// column subjects: list[int], uids of the first 100 of them
MATCH (n:ChakraNode)
WHERE n.run = $run AND n.chakra_kind STARTS WITH 'COMM_'
WITH n, coalesce(n.attributes, '{}') AS attributes
UNWIND ['comm_dst', 'comm_size', 'comm_src', 'comm_tag', 'comm_type'] AS attribute
WITH n, attributes, attribute
WHERE attributes CONTAINS '"' + attribute + '":[' AND NOT attributes CONTAINS '"' + attribute + '":["int64"'
  AND NOT (attribute IN ['comm_dst', 'comm_src', 'comm_tag']
           AND attributes CONTAINS '"' + attribute + '":["int32"')
WITH n.rank AS rank, attribute, n.uid AS uid ORDER BY uid
WITH rank, attribute, count(*) AS nodes, collect(uid) AS uids
RETURN rank, attribute, nodes, uids[0..100] AS subjects
ORDER BY rank, attribute
