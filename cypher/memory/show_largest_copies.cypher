// The largest copies on the devices, and the op that asked for each.
// param run: text, the run asked
// param rank: int = null, only this global rank
// param count: int = 20, how many
// column rank: int, global rank
// column size_bytes: int, bytes copied
// column name: text, name as in the trace, which says the direction
// column stream: int, stream number
// column start_ns: int, start since the run's origin
// column duration_ns: int, duration
// column op: text, name of the host op whose call launched it; null where it is not known
// column op_uid: int, key of that op
// column uid: int, the copy
MATCH (k:Kernel)
WHERE k.run = $run AND k.device_kind = 'memcpy' AND k.size_bytes IS NOT NULL AND ($rank IS NULL OR k.rank = $rank)
OPTIONAL MATCH (k)<-[:LAUNCHES]-(launch:RuntimeCall)<-[:CTRL]-(op:HostOp)
RETURN k.rank AS rank, k.size_bytes AS size_bytes, k.name AS name, k.stream AS stream, k.start_ns AS start_ns,
       k.duration_ns AS duration_ns, op.name AS op, op.uid AS op_uid, k.uid AS uid
ORDER BY size_bytes DESC, uid, op_uid, launch.uid
LIMIT $count
