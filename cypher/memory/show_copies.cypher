// Copies and sets on the device, by name: how many, bytes, time.
// param run: text, the run asked
// column rank: int, global rank
// column device_kind: text, memcpy or memset
// column name: text, name as in the trace, which says the direction
// column copies: int, how many
// column size_bytes: int, sum of their bytes
// column duration_ns: int, sum of their durations
MATCH (k:Kernel)
WHERE k.run = $run AND k.device_kind IN ['memcpy', 'memset']
RETURN k.rank AS rank, k.device_kind AS device_kind, k.name AS name, count(*) AS copies,
       sum(k.size_bytes) AS size_bytes, sum(k.duration_ns) AS duration_ns
ORDER BY rank, device_kind, name
