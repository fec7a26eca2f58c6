// The host ops of one rank as columns in one row, for the arithmetic of repairs, with keys from $first to before
// $after. The lists are parallel; -1 stands for null (a list holds no nulls on both engines).
// An op has a time exactly where duration_ns is not -1.
// internal: export, repairs
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column node_id: list[int], id in the execution trace
// column parent_id: list[int], parent as recorded
// column tid: list[int], thread number of the execution trace
// column rf_id: list[int], record function id
// column start_ns: list[int], start since the run's origin; 0 where there is no time
// column duration_ns: list[int], from start to end
// column thread: list[int], thread as in Kineto
// column encloser: list[int], uid of the innermost host op that encloses it in time on its thread
// column name: list[text], names
MATCH (n:HostOp) WHERE n.run = $run AND n.rank = $rank AND n.uid >= $first AND n.uid < $after
RETURN collect(n.uid) AS uid, collect(coalesce(n.node_id, -1)) AS node_id,
  collect(coalesce(n.parent_id, -1)) AS parent_id, collect(coalesce(n.tid, -1)) AS tid,
  collect(coalesce(n.rf_id, -1)) AS rf_id, collect(coalesce(n.start_ns, 0)) AS start_ns,
  collect(coalesce(n.duration_ns, -1)) AS duration_ns, collect(coalesce(n.thread, -1)) AS thread,
  collect(coalesce(n.encloser, -1)) AS encloser, collect(n.name) AS name
