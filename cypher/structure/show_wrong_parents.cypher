// The children of recorded parents that time denies, whole: one row a rank and class, the keys as a list.
// The same classes as find_parents_not_enclosing and find_parents_on_other_thread (tolerance 2 ns).
// column rank: int, global rank
// column fault: text, parent_not_enclosing or parent_on_other_thread
// column children: list[int], uids of the ops whose parent is so
MATCH (parent:HostOp)-[:CTRL]->(n:HostOp)
WHERE n.run = $run AND n.parent_id = parent.node_id
WITH n, CASE
  WHEN n.thread = parent.thread AND n.process = parent.process
  THEN CASE WHEN parent.start_ns - n.start_ns > 2
              OR n.start_ns + n.duration_ns - parent.start_ns - parent.duration_ns > 2
            THEN 'parent_not_enclosing' ELSE 'right' END
  WHEN n.name STARTS WITH 'gloo:' AND parent.name STARTS WITH 'c10d::' THEN 'right'
  WHEN n.thread <> parent.thread OR n.process <> parent.process THEN 'parent_on_other_thread'
  ELSE 'right' END AS fault
WHERE fault <> 'right'
RETURN n.rank AS rank, fault, collect(n.uid) AS children
ORDER BY rank, fault
