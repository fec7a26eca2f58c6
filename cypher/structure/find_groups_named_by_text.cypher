// Collectives of a Chakra file whose pg_name is no number: simulators take the text of a number, or none.
// check: group_named_by_text   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column groups: list[text], the first 20 of these names
// column nodes: int, collectives that name one
// column subjects: list[int], uid of the first collective that does
MATCH (n:ChakraNode)
WHERE n.run = $run AND n.chakra_kind = 'COMM_COLL_NODE' AND coalesce(n.pg_name, '') <> ''
  AND toInteger(n.pg_name) IS NULL
WITH n ORDER BY n.uid
WITH n.rank AS rank, n.pg_name AS pg_name, collect(n.uid) AS uids ORDER BY rank, pg_name
WITH rank, collect(pg_name) AS names, sum(size(uids)) AS nodes, min(uids[0]) AS first
RETURN rank, names[0..20] AS groups, nodes, [first] AS subjects
ORDER BY rank
