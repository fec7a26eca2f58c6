// The names that hold a text, in small letters or large, and how many events bear each.
// param run: text, the run asked
// param part: text, part of the name
// param rank: int = null, one rank alone
// column kind: text, HostOp, RuntimeCall, Kernel …
// column name: text, the name
// column ops: int, how many bear it
// column duration_ns: int, sum from start to end
MATCH (n:HostOp|RuntimeCall|Kernel|SyncEvent|CollectiveCall|ChakraNode)
WHERE n.run = $run AND toLower(n.name) CONTAINS toLower($part) AND ($rank IS NULL OR n.rank = $rank)
RETURN n.kind AS kind, n.name AS name, count(*) AS ops, sum(n.duration_ns) AS duration_ns
ORDER BY ops DESC, kind, name
