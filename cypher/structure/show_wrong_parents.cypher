// The children of recorded parents that time denies, whole: one row a rank and class, the keys as a list.
// The same classes as find_parents_not_enclosing and find_parents_on_other_thread (tolerance 2 ns).
// internal: repairs
// column rank: int, global rank
// column fault: text, parent_not_enclosing or parent_on_other_thread
// column children: list[int], uids of the ops whose parent is so
MATCH (parent:HostOp)-[:CTRL]->(n:HostOp)
WHERE n.run = $run AND n.parent_id = parent.node_id
  AND (n.thread <> parent.thread OR n.process <> parent.process OR n.start_ns < parent.start_ns - 2
       OR n.start_ns + n.duration_ns - 2 > parent.start_ns + parent.duration_ns)
WITH n, parent,
  CASE WHEN n.thread = parent.thread AND n.process = parent.process
       THEN 'parent_not_enclosing' ELSE 'parent_on_other_thread' END AS fault
WHERE fault = 'parent_not_enclosing'
   OR NOT (n.name STARTS WITH 'gloo:' AND parent.name STARTS WITH 'c10d::')
WITH n.rank AS rank, fault, n.uid AS uid ORDER BY uid
RETURN rank, fault, collect(uid) AS children
ORDER BY rank, fault
