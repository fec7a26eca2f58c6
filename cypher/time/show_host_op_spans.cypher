// The host ops of a rank as spans of a timeline, as parallel lists in one row, for keys from $first to before
// $after. -1 and '' stand for null (a list holds none); an op has times where duration_ns is not -1.
// internal: export
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column name: list[text], names
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column process: list[int], process as in Kineto
// column thread: list[int], thread as in Kineto
// column tid: list[int], thread number of the execution trace
// column node_id: list[int], id in the execution trace
// column rf_id: list[int], record function id
// column external_id: list[int], Kineto's External id
// column autograd_seq_id: list[int], autograd sequence number
// column category: list[text], Kineto category
MATCH (n:HostOp) WHERE n.run = $run AND n.rank = $rank AND n.uid >= $first AND n.uid < $after
RETURN collect(n.uid) AS uid, collect(n.name) AS name, collect(coalesce(n.start_ns, -1)) AS start_ns,
  collect(coalesce(n.duration_ns, -1)) AS duration_ns, collect(coalesce(n.process, -1)) AS process,
  collect(coalesce(n.thread, -1)) AS thread, collect(coalesce(n.tid, -1)) AS tid,
  collect(coalesce(n.node_id, -1)) AS node_id, collect(coalesce(n.rf_id, -1)) AS rf_id,
  collect(coalesce(n.external_id, -1)) AS external_id, collect(coalesce(n.autograd_seq_id, -1)) AS autograd_seq_id,
  collect(coalesce(n.category, '')) AS category
