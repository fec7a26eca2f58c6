// The ranges that users and optimizers marked (record_function), by name: how many, how long, what they launched.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column name: text, name of the ranges
// column ranges: int, how many
// column duration_ns: int, sum from start to end
// column self_ns: int, of this outside of the ops inside them
// column longest_ns: int, the longest
// column ranks: int, ranks that have them
MATCH (n:HostOp)
WHERE n.run = $run AND n.category = 'user_annotation' AND ($rank IS NULL OR n.rank = $rank)
RETURN n.name AS name, count(*) AS ranges, sum(n.duration_ns) AS duration_ns, sum(n.self_ns) AS self_ns,
       max(n.duration_ns) AS longest_ns, count(DISTINCT n.rank) AS ranks
ORDER BY duration_ns DESC, name
