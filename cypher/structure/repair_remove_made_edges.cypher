// Remove every CTRL edge that repairs made.
// writes: CTRL
// column edges: int, edges removed
MATCH (a:Op)-[e:CTRL]->(:Op)
WHERE a.run = $run AND e.repair IS NOT NULL
DELETE e
RETURN count(*) AS edges
