// Which streams carry the communication: its device ops by rank, device and stream.
// param run: text, the run asked
// param rank: int = null, only this global rank
// column rank: int, global rank
// column device: int, device number
// column stream: int, stream number
// column collective_kind: text, all_reduce, send …
// column kernels: int, device ops of communication calls on it
// column duration_ns: int, sum of their durations
// column first_start_ns: int, start of the first, since the run's origin
// column last_end_ns: int, end of the last
MATCH (c:CollectiveCall)-[:SEEN_AS]->(k:Kernel)
WHERE c.run = $run AND ($rank IS NULL OR c.rank = $rank)
RETURN k.rank AS rank, k.device AS device, k.stream AS stream, c.collective_kind AS collective_kind,
       count(*) AS kernels, sum(k.duration_ns) AS duration_ns, min(k.start_ns) AS first_start_ns,
       max(k.start_ns + k.duration_ns) AS last_end_ns
ORDER BY rank, device, stream, collective_kind
