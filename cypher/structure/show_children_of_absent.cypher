// The ops that name an absent parent, with the innermost op that encloses each in time on its thread.
// An encloser without node_id is known to Kineto only: it may be the absent parent itself.
// param run: text, the run asked
// param rank: int, global rank
// param absent_id: int, the id that is named and absent
// column uid: int, the child
// column node_id: int, its id in the trace
// column name: text, its name
// column tid: int, its thread number in the execution trace
// column start_ns: int, its start; null without a Kineto file
// column encloser: int, uid of the op round it
// column encloser_node_id: int, id of that op; null when it is in Kineto only
// column encloser_name: text, name of that op
MATCH (n:HostOp|Kernel)
WHERE n.run = $run AND n.rank = $rank AND n.parent_id = $absent_id AND NOT EXISTS { (n)<-[:CTRL]-() }
OPTIONAL MATCH (around:Op {uid: n.encloser})
RETURN n.uid AS uid, n.node_id AS node_id, n.name AS name, n.tid AS tid, n.start_ns AS start_ns,
       n.encloser AS encloser, around.node_id AS encloser_node_id, around.name AS encloser_name
ORDER BY uid
