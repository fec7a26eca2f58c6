// The device ops of one rank that were read with ids of their own (merged trace, Chakra file) and have a stream
// and a start, as parallel columns in one row, for keys from $first to before $after. -1 stands for null.
// internal: repairs
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column device: list[int], device number
// column stream: list[int], stream number
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column name: list[text], names
MATCH (n:Kernel|ChakraNode)
WHERE n.run = $run AND n.rank = $rank AND n.uid >= $first AND n.uid < $after
  AND n.node_id IS NOT NULL AND (n.kind = 'Kernel' OR n.is_cpu_op = false)
  AND n.stream IS NOT NULL AND n.start_ns IS NOT NULL
RETURN collect(n.uid) AS uid, collect(coalesce(n.device, -1)) AS device, collect(coalesce(n.stream, -1)) AS stream,
  collect(coalesce(n.start_ns, 0)) AS start_ns, collect(coalesce(n.duration_ns, -1)) AS duration_ns, collect(n.name) AS name
