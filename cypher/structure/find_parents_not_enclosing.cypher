// Recorded parents that do not enclose their child in time though both ran on one thread: the child began
// before or ended after its parent by more than 2 ns (the resolution of the times).
// check: parent_not_enclosing   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column children: int, ops whose parent does not enclose them
// column outside_ns: int, the longest time one of them lies outside
// column subjects: list[int], uids of the first 100 children
MATCH (parent:HostOp)-[:CTRL]->(n:HostOp)
WHERE n.run = $run AND n.parent_id = parent.node_id AND n.thread = parent.thread AND n.process = parent.process
  AND (parent.start_ns - n.start_ns > 2
       OR n.start_ns + n.duration_ns - parent.start_ns - parent.duration_ns > 2)
WITH n.rank AS rank, n.uid AS uid, parent.start_ns - n.start_ns AS early,
     n.start_ns + n.duration_ns - parent.start_ns - parent.duration_ns AS late
WITH rank, uid, CASE WHEN early > late THEN early ELSE late END AS outside ORDER BY uid
WITH rank, count(*) AS children, max(outside) AS outside_ns, collect(uid) AS uids
RETURN rank, children, outside_ns, uids[0..100] AS subjects
ORDER BY rank
