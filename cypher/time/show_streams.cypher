// GPU streams: device ops, busy time, first start, last end.
// param run: text, the run asked
// column rank: int, global rank
// column device: int, device number
// column stream: int, stream number
// column device_ops: int, how many
// column busy_ns: int, sum of their durations
// column start_ns: int, first start
// column end_ns: int, last end
MATCH (k:Kernel)
WHERE k.run = $run
RETURN k.rank AS rank, k.device AS device, k.stream AS stream, count(*) AS device_ops,
       sum(k.duration_ns) AS busy_ns, min(k.start_ns) AS start_ns, max(k.start_ns + k.duration_ns) AS end_ns
ORDER BY rank, device, stream
