// Ids and times of the ops of one rank that edges lead from or to, as columns in one row, with keys from $first
// to before $after. The lists are parallel; -1 stands for null. An op has a time exactly where duration_ns is not -1.
// internal: repairs
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column node_id: list[int], ids as recorded
// column start_ns: list[int], start since the run's origin; 0 where there is no time
// column duration_ns: list[int], from start to end
// column kind: list[text], second labels
// column name: list[text], names
MATCH (n:Op)
WHERE n.run = $run AND n.rank = $rank AND n.uid >= $first AND n.uid < $after
  AND n.kind <> 'CollectiveCall' AND n.kind <> 'SyncEvent'
RETURN collect(n.uid) AS uid, collect(coalesce(n.node_id, -1)) AS node_id,
  collect(coalesce(n.start_ns, 0)) AS start_ns, collect(coalesce(n.duration_ns, -1)) AS duration_ns,
  collect(n.kind) AS kind, collect(n.name) AS name
