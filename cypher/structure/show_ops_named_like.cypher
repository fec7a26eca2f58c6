// The events whose name holds a text, in small letters or large, by rank and time.
// param run: text, the run asked
// param part: text, part of the name
// param kind: text = null, HostOp, RuntimeCall, Kernel … alone
// param rank: int = null, one rank alone
// param count: int = 50, how many
// column uid: int, the event
// column rank: int, global rank
// column kind: text, HostOp, RuntimeCall, Kernel …
// column name: text, its name
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
MATCH (n:HostOp|RuntimeCall|Kernel|SyncEvent|CollectiveCall|ChakraNode)
WHERE n.run = $run AND toLower(n.name) CONTAINS toLower($part) AND ($kind IS NULL OR n.kind = $kind)
  AND ($rank IS NULL OR n.rank = $rank)
RETURN n.uid AS uid, n.rank AS rank, n.kind AS kind, n.name AS name, n.start_ns AS start_ns,
       n.duration_ns AS duration_ns
ORDER BY rank, start_ns, uid
LIMIT $count
