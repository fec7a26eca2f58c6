// When and on which thread the runtime calls of a rank ran, as parallel lists in one row, for keys from
// $first to before $after. -1 stands for null (a list holds none).
// internal: export
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column process: list[int], process as in Kineto
// column thread: list[int], thread as in Kineto
MATCH (c:RuntimeCall) WHERE c.run = $run AND c.rank = $rank AND c.uid >= $first AND c.uid < $after
RETURN collect(c.uid) AS uid, collect(coalesce(c.start_ns, -1)) AS start_ns,
  collect(coalesce(c.duration_ns, -1)) AS duration_ns,
  collect(coalesce(c.process, -1)) AS process, collect(coalesce(c.thread, -1)) AS thread
