// Ranks whose graph could hold a cycle: they have recorded SYNC edges, nodes of a Chakra file, or host ops without
// a top (their callers run in a circle). All others are plain forests. The cycles themselves, which no engine
// finds alike, are looked for outside of the graph.
// check: cycle   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column ops: int, ops that say so
MATCH (n:Op)
WHERE n.run = $run AND (n.kind = 'ChakraNode' OR (n.kind = 'HostOp' AND n.root IS NULL)
                        OR EXISTS { MATCH (n)-[e:SYNC]->() WHERE NOT coalesce(e.rule, '') CONTAINS '.' })
RETURN n.rank AS rank, count(*) AS ops
ORDER BY rank
