// Recorded parents that ran on another thread than their child. A worker's gloo: op under the c10d:: call it
// works for is right and not counted.
// check: parent_on_other_thread   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column children: int, ops whose parent ran on another thread
// column subjects: list[int], uids of the first 100 children
MATCH (parent:HostOp)-[:CTRL]->(n:HostOp)
WHERE n.run = $run AND n.parent_id = parent.node_id
  AND (n.thread <> parent.thread OR n.process <> parent.process)
  AND NOT (n.name STARTS WITH 'gloo:' AND parent.name STARTS WITH 'c10d::')
WITH n ORDER BY n.uid
WITH n.rank AS rank, count(*) AS children, collect(n.uid) AS uids
RETURN rank, children, uids[0..100] AS subjects
ORDER BY rank
