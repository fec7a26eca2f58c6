// The device ops that no host op is known for, the longest first, and why: no launch, or one that no op made.
// param run: text, the run asked
// param rank: int = null, one rank alone
// param count: int = 50, how many
// column uid: int, the device op
// column rank: int, global rank
// column name: text, its name
// column stream: int, its stream
// column launch_class: text, launched, graph_replay, before_window, lost, no_correlation or no_runtime_calls
// column correlation: int, correlation as recorded
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
MATCH (k:Kernel)
WHERE k.run = $run AND ($rank IS NULL OR k.rank = $rank)
  AND NOT EXISTS { (k)<-[:LAUNCHES]-(:RuntimeCall)<-[:CTRL]-(:HostOp) }
RETURN k.uid AS uid, k.rank AS rank, k.name AS name, k.stream AS stream, k.launch_class AS launch_class,
       k.correlation AS correlation, k.start_ns AS start_ns, k.duration_ns AS duration_ns
ORDER BY duration_ns DESC, uid
LIMIT $count
