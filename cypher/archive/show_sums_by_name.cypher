// Time, bytes and number of the ops of each name in each run, from the sums the archive keeps: no run is opened.
// A CollectiveCall goes by its collective_kind.
// param runs: list[text], the runs asked
// param kind: text = "HostOp", kind of the ops: HostOp, Kernel, CollectiveCall, RuntimeCall …
// param name: text = null, ops of this name only
// column run: text, the run
// column name: text, name of the ops
// column ops: int, how many
// column duration_ns: int, sum from start to end (ops inside count again); null where no time is known
// column self_ns: int, sum of their own time; null for kinds without
// column size_bytes: int, sum of their bytes; null where none are known
MATCH (s:NameSum)
WHERE s.run IN $runs AND s.kind = $kind AND ($name IS NULL OR s.name = $name)
RETURN s.run AS run, s.name AS name, s.nodes AS ops, s.duration_ns AS duration_ns, s.self_ns AS self_ns,
       s.size_bytes AS size_bytes
ORDER BY run, name, s.key
