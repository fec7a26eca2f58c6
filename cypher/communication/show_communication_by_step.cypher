// Communication by step of the profiler: calls, bytes, and time, for each rank.
// A call is of the step its host op lies in; one that only a kernel or a dump shows is of none and stands under null.
// param run: text, the run asked
// param rank: int = null, only this global rank
// column rank: int, global rank
// column step: int, number of the step
// column calls: int, communication calls, send and recv included
// column size_bytes: int, sum of their input bytes, as far as the files say
// column duration_ns: int, sum of their measured times
// column wait_ns: int, of these the time before the last member came, where it is known
MATCH (c:CollectiveCall)
WHERE c.run = $run AND ($rank IS NULL OR c.rank = $rank)
OPTIONAL MATCH (c)-[seen:SEEN_AS]->(op:HostOp)
WHERE seen.rule = 'host_op'
WITH c.rank AS rank, c.uid AS uid, c.size_bytes AS size, c.duration_ns AS lasts, c.wait_ns AS wait, max(op.step) AS step
RETURN rank, step, count(*) AS calls, sum(size) AS size_bytes, sum(lasts) AS duration_ns,
       sum(CASE WHEN lasts IS NULL THEN null WHEN wait > lasts THEN lasts ELSE wait END) AS wait_ns
ORDER BY rank, step
