// One op: where it stands in the call tree and in time, and how much of its time is its own.
// param run: text, the run asked
// param op: int, uid of the op
// column uid: int, the op
// column rank: int, global rank
// column kind: text, HostOp, RuntimeCall, Kernel …
// column name: text, its name
// column node_id: int, id in the execution trace
// column parent_id: int, parent as recorded
// column caller: int, uid of its caller; null for none
// column called: int, how many it calls
// column depth: int, callers above it
// column path: text, names from the top of the tree to a host op
// column step: int, number of the ProfilerStep a host op lies in
// column process: int, process as in Kineto
// column thread: int, thread as in Kineto
// column device: int, device of a device op
// column stream: int, stream of a device op
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
// column self_ns: int, of this a host op's own
MATCH (n:Op {uid: $op})
WHERE n.run = $run
RETURN n.uid AS uid, n.rank AS rank, n.kind AS kind, n.name AS name, n.node_id AS node_id,
       n.parent_id AS parent_id, head([(n)<-[:CTRL]-(caller:Op) | caller.uid]) AS caller,
       COUNT { (n)-[:CTRL]->() } AS called, n.depth AS depth, n.path AS path, n.step AS step,
       n.process AS process, n.thread AS thread, n.device AS device, n.stream AS stream,
       n.start_ns AS start_ns, n.duration_ns AS duration_ns, n.self_ns AS self_ns
ORDER BY uid
