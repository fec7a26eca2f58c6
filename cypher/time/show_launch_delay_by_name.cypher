// Device ops by name, with how long they began after their launch call (HTA: launch statistics), and how many of
// them are shorter than the call that launched them.
// param run: text, the run asked
// param rank: int = null, one rank alone
// param count: int = 50, how many names
// column name: text, name of the device ops
// column device_ops: int, how many have a launch
// column duration_ns: int, sum of their durations
// column call_ns: int, sum of the durations of their launch calls
// column shortest_delay_ns: int, the shortest delay; below 0 where the clocks of host and device differ
// column mean_delay_ns: int, the mean
// column longest_delay_ns: int, the longest
// column shorter_than_call: int, device ops that last less than their launch call
MATCH (k:Kernel)<-[:LAUNCHES]-(c:RuntimeCall)
WHERE k.run = $run AND ($rank IS NULL OR k.rank = $rank)
WITH k.name AS name, k.start_ns - c.start_ns AS delay, k.duration_ns AS lasts, c.duration_ns AS call_lasts
WITH name, count(*) AS device_ops, sum(lasts) AS duration_ns, sum(call_lasts) AS call_ns,
     min(delay) AS shortest_delay_ns, sum(delay) AS delays, max(delay) AS longest_delay_ns,
     sum(CASE WHEN lasts < call_lasts THEN 1 ELSE 0 END) AS shorter_than_call
RETURN name, device_ops, duration_ns, call_ns, shortest_delay_ns, delays / device_ops AS mean_delay_ns,
       longest_delay_ns, shorter_than_call
ORDER BY delays DESC, name
LIMIT $count
