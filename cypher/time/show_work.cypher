// Device ops by what they do: computation, communication, memory. Times are sums; ops that overlap count each.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column rank: int, global rank
// column work: text, computation, communication or memory
// column device_ops: int, how many
// column duration_ns: int, sum of their durations
// column mean_ns: int, mean, rounded down
// column longest_ns: int, the longest
MATCH (k:Kernel)
WHERE k.run = $run AND k.duration_ns IS NOT NULL AND ($rank IS NULL OR k.rank = $rank)
WITH k.rank AS rank, k.work AS work, count(*) AS device_ops, sum(k.duration_ns) AS duration_ns,
     max(k.duration_ns) AS longest_ns
RETURN rank, work, device_ops, duration_ns, duration_ns / device_ops AS mean_ns, longest_ns
ORDER BY rank, duration_ns DESC, work
