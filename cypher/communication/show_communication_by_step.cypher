// Communication by step of the profiler: calls, bytes, and time, for each rank.
// A call is of the step its host op lies in; one that only a kernel or a dump shows is of none and stands under null.
// param run: text, the run asked
// param rank: int = null, only this global rank
// column rank: int, global rank
// column step: int, number of the step
// column calls: int, communication calls, send and recv included
// column size_bytes: int, sum of their input bytes, as far as the files say
// column duration_ns: int, sum of their measured times; null where none is known
// column wait_ns: int, of these the time before the last member came, null where none is known
MATCH (c:CollectiveCall)
WHERE c.run = $run AND ($rank IS NULL OR c.rank = $rank)
OPTIONAL MATCH (c)-[seen:SEEN_AS]->(op:HostOp)
WHERE seen.rule = 'host_op'
WITH c.rank AS rank, c.uid AS uid, c.size_bytes AS size, c.duration_ns AS lasts, c.wait_ns AS wait, max(op.step) AS step
WITH rank, step, size, lasts, CASE WHEN lasts IS NULL THEN null WHEN wait > lasts THEN lasts ELSE wait END AS waited
WITH rank, step, count(*) AS calls, sum(size) AS size_bytes, sum(lasts) AS lasts, count(lasts) AS timed,
     sum(waited) AS waited, count(waited) AS split
RETURN rank, step, calls, size_bytes, CASE WHEN timed > 0 THEN lasts END AS duration_ns,
       CASE WHEN split > 0 THEN waited END AS wait_ns
ORDER BY rank, step
