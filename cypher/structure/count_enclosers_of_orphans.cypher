// The ops that name an absent parent, counted by what encloses them in time on their thread.
// internal: findings
// param run: text, the run asked
// column rank: int, global rank
// column absent_id: int, the id that is named and absent
// column encloser_name: text, name of the op round them; null where there is none or no time
// column in_kineto_only: bool, whether that op is known to Kineto only
// column children: int, how many
MATCH (n:HostOp|Kernel)
WHERE n.run = $run AND n.parent_id IS NOT NULL AND NOT EXISTS { (n)<-[:CTRL]-() }
OPTIONAL MATCH (around:Op {uid: n.encloser})
WITH n.rank AS rank, n.parent_id AS absent_id, n.uid AS uid, around.name AS encloser_name,
     around.uid IS NOT NULL AND around.node_id IS NULL AS in_kineto_only
RETURN rank, absent_id, encloser_name, in_kineto_only, count(uid) AS children
ORDER BY rank, absent_id, encloser_name, in_kineto_only
