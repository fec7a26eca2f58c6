// Ranks whose graph could hold a cycle: they have recorded SYNC edges, Chakra nodes, or host ops without a top
// (the call tree has a cycle there). All others are plain forests.
// internal: repairs
// column rank: int, global rank
// column why: text, edges, chakra nodes or no top
MATCH (a:Op)-[e:SYNC]->(b:Op) WHERE a.run = $run AND NOT coalesce(e.rule, '') CONTAINS '.'
RETURN DISTINCT a.rank AS rank, 'edges' AS why
UNION
MATCH (n:ChakraNode) WHERE n.run = $run
RETURN DISTINCT n.rank AS rank, 'chakra nodes' AS why
UNION
MATCH (n:HostOp) WHERE n.run = $run AND n.root IS NULL
RETURN DISTINCT n.rank AS rank, 'no top' AS why
