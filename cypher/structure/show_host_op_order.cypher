// What the order of a rank's host ops follows from, as parallel lists in one row, for keys from $first to
// before $after. -1 stands for null (a list holds none); an op has times where duration_ns is not -1.
// internal: export
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column name: list[text], names
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column node_id: list[int], id in the execution trace
// column external_id: list[int], Kineto's External id
// column process: list[int], process as in Kineto
// column thread: list[int], thread as in Kineto
// column tid: list[int], thread number of the execution trace
// column encloser: list[int], key of the innermost host op that encloses it in time on its thread
MATCH (n:HostOp) WHERE n.run = $run AND n.rank = $rank AND n.uid >= $first AND n.uid < $after
RETURN collect(n.uid) AS uid, collect(n.name) AS name, collect(coalesce(n.start_ns, -1)) AS start_ns,
  collect(coalesce(n.duration_ns, -1)) AS duration_ns, collect(coalesce(n.node_id, -1)) AS node_id,
  collect(coalesce(n.external_id, -1)) AS external_id, collect(coalesce(n.process, -1)) AS process,
  collect(coalesce(n.thread, -1)) AS thread, collect(coalesce(n.tid, -1)) AS tid,
  collect(coalesce(n.encloser, -1)) AS encloser
