// The device ops of a rank as parallel lists in one row, for keys from $first to before $after. -1 and '' stand
// for null (a list holds none); an op has times where duration_ns is not -1.
// internal: export
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column name: list[text], names
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column device: list[int], device number
// column stream: list[int], stream number
// column correlation: list[int], correlation with the runtime call
// column device_kind: list[text], kernel, memcpy or memset
// column size_bytes: list[int], bytes of a copy or set
// column node_id: list[int], id in a merged execution trace
MATCH (k:Kernel) WHERE k.run = $run AND k.rank = $rank AND k.uid >= $first AND k.uid < $after
RETURN collect(k.uid) AS uid, collect(k.name) AS name, collect(coalesce(k.start_ns, -1)) AS start_ns,
  collect(coalesce(k.duration_ns, -1)) AS duration_ns, collect(coalesce(k.device, -1)) AS device,
  collect(coalesce(k.stream, -1)) AS stream, collect(coalesce(k.correlation, -1)) AS correlation,
  collect(coalesce(k.device_kind, '')) AS device_kind, collect(coalesce(k.size_bytes, -1)) AS size_bytes,
  collect(coalesce(k.node_id, -1)) AS node_id
