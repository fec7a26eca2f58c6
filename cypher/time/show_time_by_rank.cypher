// The events of one name, rank by rank: which rank is slower at it.
// param run: text, the run asked
// param name: text, the name, as written in the trace
// column rank: int, global rank
// column kind: text, HostOp, RuntimeCall, Kernel …
// column ops: int, how many
// column duration_ns: int, sum from start to end
// column mean_ns: int, mean, rounded down
// column shortest_ns: int, the shortest
// column longest_ns: int, the longest
MATCH (n:Op)
WHERE n.run = $run AND n.name = $name AND n.duration_ns IS NOT NULL
WITH n.rank AS rank, n.kind AS kind, count(*) AS ops, sum(n.duration_ns) AS duration_ns,
     min(n.duration_ns) AS shortest_ns, max(n.duration_ns) AS longest_ns
RETURN rank, kind, ops, duration_ns, duration_ns / ops AS mean_ns, shortest_ns, longest_ns
ORDER BY rank, kind
