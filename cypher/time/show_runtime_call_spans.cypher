// The runtime calls of a rank as spans of a timeline, as parallel lists in one row, for keys from $first to before
// $after. -1 and '' stand for null (a list holds none); a call has times where duration_ns is not -1.
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
// column correlation: list[int], correlation with the device ops
// column category: list[text], Kineto category
MATCH (c:RuntimeCall) WHERE c.run = $run AND c.rank = $rank AND c.uid >= $first AND c.uid < $after
RETURN collect(c.uid) AS uid, collect(c.name) AS name, collect(coalesce(c.start_ns, -1)) AS start_ns,
  collect(coalesce(c.duration_ns, -1)) AS duration_ns, collect(coalesce(c.process, -1)) AS process,
  collect(coalesce(c.thread, -1)) AS thread, collect(coalesce(c.correlation, -1)) AS correlation,
  collect(coalesce(c.category, '')) AS category
