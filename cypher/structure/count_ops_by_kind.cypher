// What each rank holds: its events by kind, and the time they lie in.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column rank: int, global rank
// column kind: text, HostOp, RuntimeCall, Kernel …
// column ops: int, how many
// column timed: int, of these, with a start
// column first_ns: int, start of the first
// column last_ns: int, end of the last
MATCH (n:HostOp|RuntimeCall|Kernel|SyncEvent|CollectiveCall|ChakraNode)
WHERE n.run = $run AND ($rank IS NULL OR n.rank = $rank)
RETURN n.rank AS rank, n.kind AS kind, count(*) AS ops, count(n.start_ns) AS timed, min(n.start_ns) AS first_ns,
       max(n.start_ns + n.duration_ns) AS last_ns
ORDER BY rank, kind
