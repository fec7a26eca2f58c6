// Ranks whose graph could hold a cycle: they have recorded SYNC edges, nodes of a Chakra file, or host ops without
// a top (their callers run in a circle); a row for each of these. All others are plain forests. The cycles
// themselves, which no engine finds alike, are looked for outside of the graph.
// check: cycle   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column ops: int, ops that say so
MATCH (a:Op)-[e:SYNC]->(b:Op) WHERE a.run = $run AND NOT coalesce(e.rule, '') CONTAINS '.'
RETURN a.rank AS rank, count(DISTINCT a.uid) AS ops
UNION
MATCH (n:ChakraNode) WHERE n.run = $run
RETURN n.rank AS rank, count(*) AS ops
UNION
MATCH (n:HostOp) WHERE n.run = $run AND n.root IS NULL
RETURN n.rank AS rank, count(*) AS ops
