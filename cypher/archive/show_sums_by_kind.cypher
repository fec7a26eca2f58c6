// Time, bytes and number of the ops of each kind in each run, from the sums the archive keeps.
// param runs: list[text], the runs asked
// column run: text, the run
// column kind: text, kind of the ops
// column names: int, different names among them
// column ops: int, how many
// column duration_ns: int, sum from start to end (ops inside count again); null where no time is known
// column self_ns: int, sum of their own time; null for kinds without
// column size_bytes: int, sum of their bytes; null where none are known
MATCH (s:NameSum)
WHERE s.run IN $runs
WITH s.run AS run, s.kind AS kind, count(*) AS names, sum(s.nodes) AS ops,
     sum(s.duration_ns) AS durations, count(s.duration_ns) AS timed,
     sum(s.self_ns) AS own, count(s.self_ns) AS own_timed, sum(s.size_bytes) AS sizes, count(s.size_bytes) AS sized
RETURN run, kind, names, ops, CASE WHEN timed > 0 THEN durations ELSE null END AS duration_ns,
       CASE WHEN own_timed > 0 THEN own ELSE null END AS self_ns, CASE WHEN sized > 0 THEN sizes ELSE null END AS size_bytes
ORDER BY run, kind
