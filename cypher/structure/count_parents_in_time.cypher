// How the recorded parents fare in time, where both ops have times (tolerance 2 ns).
// param run: text, the run asked
// column rank: int, global rank
// column place: text, enclosing, not enclosing, other thread, or worker of a call (gloo: under c10d::)
// column children: int, ops whose parent is so
MATCH (parent:HostOp)-[:CTRL]->(n:HostOp)
WHERE n.run = $run AND n.parent_id = parent.node_id AND n.thread IS NOT NULL AND parent.thread IS NOT NULL
WITH n.rank AS rank,
     CASE WHEN n.thread = parent.thread AND n.process = parent.process
          THEN CASE WHEN parent.start_ns - n.start_ns > 2
                      OR n.start_ns + n.duration_ns - parent.start_ns - parent.duration_ns > 2
                    THEN 'not enclosing' ELSE 'enclosing' END
          WHEN n.name STARTS WITH 'gloo:' AND parent.name STARTS WITH 'c10d::' THEN 'worker of a call'
          ELSE 'other thread' END AS place
RETURN rank, place, count(*) AS children
ORDER BY rank, place
