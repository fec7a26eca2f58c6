// The ops of one autograd sequence number: those of the forward pass and the backward ops made for them.
// param run: text, the run asked
// param op: int, uid of one of them
// column uid: int, the op
// column name: text, its name
// column forward_thread: int, thread number of the forward op; null on the forward op itself
// column thread: int, thread as in Kineto
// column autograd_seq_id: int, the number
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
MATCH (n:Op {uid: $op})
WHERE n.run = $run
MATCH (other:HostOp)
WHERE other.run = $run AND other.rank = n.rank AND other.autograd_seq_id = n.autograd_seq_id
RETURN other.uid AS uid, other.name AS name, other.fw_tid AS forward_thread, other.thread AS thread,
       other.autograd_seq_id AS autograd_seq_id, other.start_ns AS start_ns, other.duration_ns AS duration_ns
ORDER BY start_ns, uid
