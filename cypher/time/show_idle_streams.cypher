// How busy each stream was, and why it lay idle in between (HTA: idle time breakdown; time/show_idle_gaps says how
// the reasons are told).
// param run: text, the run asked
// param rank: int = null, one rank alone
// param kernel_wait_below_ns: int = 30, a gap shorter than this is a kernel wait
// column rank: int, global rank
// column device: int, device number
// column stream: int, stream number
// column device_ops: int, how many
// column span_ns: int, from the start of the first to the end of the last: busy + idle
// column busy_ns: int, time in which one of them ran
// column idle_ns: int, time in which none ran
// column host_wait_ns: int, of it, what ended it was launched too late
// column kernel_wait_ns: int, of it, gaps no longer than two launches need
// column other_ns: int, of it, what ended it was launched in time
// column unknown_ns: int, of it, no file has the launch of what ended it
MATCH (k:Kernel)
WHERE k.run = $run AND k.stream IS NOT NULL AND k.duration_ns IS NOT NULL AND ($rank IS NULL OR k.rank = $rank)
WITH k, coalesce(k.idle_ns, 0) AS idle, head([(k)<-[:LAUNCHES]-(c:RuntimeCall) | c.start_ns]) AS launch_ns
WITH k, idle, CASE WHEN launch_ns IS NULL THEN 'unknown' WHEN launch_ns > k.start_ns - idle THEN 'host'
                   WHEN idle < $kernel_wait_below_ns THEN 'kernel' ELSE 'other' END AS reason
WITH k.rank AS rank, k.device AS device, k.stream AS stream, count(*) AS device_ops,
     max(k.start_ns + k.duration_ns) - min(k.start_ns) AS span_ns, sum(idle) AS idle_ns,
     sum(CASE WHEN reason = 'host' THEN idle ELSE 0 END) AS host_wait_ns,
     sum(CASE WHEN reason = 'kernel' THEN idle ELSE 0 END) AS kernel_wait_ns,
     sum(CASE WHEN reason = 'other' THEN idle ELSE 0 END) AS other_ns,
     sum(CASE WHEN reason = 'unknown' THEN idle ELSE 0 END) AS unknown_ns
RETURN rank, device, stream, device_ops, span_ns, span_ns - idle_ns AS busy_ns, idle_ns, host_wait_ns,
       kernel_wait_ns, other_ns, unknown_ns
ORDER BY rank, device, stream
