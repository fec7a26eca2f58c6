// Ops by uid.
// param run: text, the run asked
// param uids: list[int], which
// column uid: int, the op
// column rank: int, global rank
// column kind: text, HostOp, Kernel …
// column node_id: int, id in the trace; null for an op known to Kineto only
// column name: text, its name
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
UNWIND $uids AS wanted
MATCH (n:Op {uid: wanted})
WHERE n.run = $run
RETURN n.uid AS uid, n.rank AS rank, n.kind AS kind, n.node_id AS node_id, n.name AS name,
       n.start_ns AS start_ns, n.duration_ns AS duration_ns
ORDER BY wanted
