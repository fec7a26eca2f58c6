// What goes through each process group: calls, bytes, and the time in them, split into waiting and the rest.
// The split is that of show_wait_and_transfer, over the calls whose wait is known. Calls whose group no file says
// stand under null.
// param run: text, the run asked
// param rank: int = null, only the calls of this global rank
// column group: text, group key: name and members
// column ranks: int, ranks with calls in it
// column calls: int, communication calls in it, send and recv included
// column size_bytes: int, sum of their input bytes, as far as the files say
// column duration_ns: int, sum of their measured times; null where none is known
// column split_calls: int, those whose wait and measured time are known
// column wait_ns: int, of these the time before the last member came; null where there is none
// column transfer_ns: int, of these the rest of the time; null where there is none
MATCH (c:CollectiveCall)
WHERE c.run = $run AND ($rank IS NULL OR c.rank = $rank)
WITH c.group AS group, c.rank AS rank, c.size_bytes AS size, c.duration_ns AS lasts,
     CASE WHEN c.wait_ns > c.duration_ns THEN c.duration_ns WHEN c.duration_ns IS NULL THEN null ELSE c.wait_ns END
       AS waited
WITH group, count(DISTINCT rank) AS ranks, count(*) AS calls, sum(size) AS size_bytes, sum(lasts) AS lasts, count(lasts) AS timed,
     count(waited) AS split_calls, sum(waited) AS waited,
     sum(CASE WHEN waited IS NULL THEN 0 ELSE lasts - waited END) AS moved
RETURN group, ranks, calls, size_bytes, CASE WHEN timed > 0 THEN lasts END AS duration_ns, split_calls,
       CASE WHEN split_calls > 0 THEN waited END AS wait_ns,
       CASE WHEN split_calls > 0 THEN moved END AS transfer_ns
ORDER BY group
