// How much each rank communicates: calls, bytes, and the time in them, split into waiting and the rest.
// The split is that of show_wait_and_transfer, over the calls whose wait is known.
// param run: text, the run asked
// param group: text = null, only this group, by its key: name and members
// column rank: int, global rank
// column calls: int, its communication calls, send and recv included
// column size_bytes: int, sum of their input bytes, as far as the files say
// column duration_ns: int, sum of their measured times
// column split_calls: int, those whose wait and measured time are known
// column wait_ns: int, of these the time before the last member came
// column transfer_ns: int, of these the rest of the time
MATCH (c:CollectiveCall)
WHERE c.run = $run AND ($group IS NULL OR c.group = $group)
WITH c.rank AS rank, c.size_bytes AS size, c.duration_ns AS lasts,
     CASE WHEN c.wait_ns > c.duration_ns THEN c.duration_ns WHEN c.duration_ns IS NULL THEN null ELSE c.wait_ns END
       AS waited
RETURN rank, count(*) AS calls, sum(size) AS size_bytes, sum(lasts) AS duration_ns, count(waited) AS split_calls,
       sum(waited) AS wait_ns, sum(CASE WHEN waited IS NULL THEN 0 ELSE lasts - waited END) AS transfer_ns
ORDER BY rank
