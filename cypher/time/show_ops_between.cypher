// What ran on a rank between two moments: ops of host and device that began before the one and ended after the other.
// param run: text, the run asked
// param rank: int, global rank
// param from_ns: int, the earlier moment, since the run's origin
// param to_ns: int, the later moment
// param count: int = 200, how many
// column uid: int, the op
// column kind: text, HostOp, RuntimeCall, Kernel …
// column name: text, its name
// column thread: int, thread of the host; null on a device
// column stream: int, stream of the device; null on the host
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
MATCH (n:HostOp|RuntimeCall|Kernel|SyncEvent)
WHERE n.run = $run AND n.rank = $rank AND n.start_ns <= $to_ns AND n.start_ns + n.duration_ns >= $from_ns
RETURN n.uid AS uid, n.kind AS kind, n.name AS name, n.thread AS thread, n.stream AS stream,
       n.start_ns AS start_ns, n.duration_ns AS duration_ns
ORDER BY start_ns, duration_ns DESC, uid
LIMIT $count
