// The own time of a rank's host ops, their steps, and what encloses them in time, as parallel lists in one row, for
// keys from $first to before $after. -1 stands for null (a list holds none).
// internal: diff
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column self_ns: list[int], duration less that of the ops it directly encloses on its thread
// column step: list[int], number of the ProfilerStep it lies in
// column encloser: list[int], key of the innermost host op that encloses it in time on its thread
MATCH (n:HostOp) WHERE n.run = $run AND n.rank = $rank AND n.uid >= $first AND n.uid < $after
RETURN collect(n.uid) AS uid, collect(coalesce(n.self_ns, -1)) AS self_ns, collect(coalesce(n.step, -1)) AS step,
  collect(coalesce(n.encloser, -1)) AS encloser
