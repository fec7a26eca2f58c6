// Device ops by name, the most time first: how many, how long.
// param run: text, the run asked
// param rank: int = null, one rank alone
// param work: text = null, computation, communication or memory alone
// param count: int = 50, how many names
// column name: text, the name
// column work: text, computation, communication or memory
// column device_ops: int, how many
// column duration_ns: int, sum of their durations
// column mean_ns: int, mean, rounded down
// column shortest_ns: int, the shortest
// column longest_ns: int, the longest
MATCH (k:Kernel)
WHERE k.run = $run AND k.duration_ns IS NOT NULL AND ($rank IS NULL OR k.rank = $rank)
  AND ($work IS NULL OR k.work = $work)
WITH k.name AS name, k.work AS work, count(*) AS device_ops, sum(k.duration_ns) AS duration_ns,
     min(k.duration_ns) AS shortest_ns, max(k.duration_ns) AS longest_ns
RETURN name, work, device_ops, duration_ns, duration_ns / device_ops AS mean_ns, shortest_ns, longest_ns
ORDER BY duration_ns DESC, name, work
LIMIT $count
