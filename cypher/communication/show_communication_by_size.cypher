// How large the messages are: calls by kind and size, in classes from one power of two to the next.
// A class begins at its smallest size: 0, 1, 2, 4 … bytes; calls whose size the files do not say stand under null.
// param run: text, the run asked
// param rank: int = null, only the calls of this global rank
// param kind: text = null, only this kind: all_reduce, send …
// column collective_kind: text, all_reduce, send …; null where it is not known
// column from_bytes: int, smallest size of the class; the next begins at twice as much
// column calls: int, calls of the ranks loaded
// column size_bytes: int, sum of their input bytes
// column duration_ns: int, sum of their measured times; null where none is known
// column shortest_ns: int, the shortest of them
// column longest_ns: int, the longest of them
MATCH (c:CollectiveCall)
WHERE c.run = $run AND ($rank IS NULL OR c.rank = $rank) AND ($kind IS NULL OR c.collective_kind = $kind)
WITH c.collective_kind AS collective_kind, c.size_bytes AS size, c.duration_ns AS lasts
WITH collective_kind, size, lasts,
     CASE WHEN size IS NULL THEN null
          ELSE reduce(low = 0, power IN range(0, 62) |
                      CASE WHEN size >= 4611686018427387904 THEN 4611686018427387904
                           WHEN low = 0 AND size > 0 THEN 1
                           WHEN low > 0 AND low * 2 <= size THEN low * 2
                           ELSE low END) END AS from_bytes
WITH collective_kind, from_bytes, count(*) AS calls, sum(size) AS size_bytes, sum(lasts) AS lasts, count(lasts) AS timed,
     min(lasts) AS shortest_ns, max(lasts) AS longest_ns
RETURN collective_kind, from_bytes, calls, size_bytes, CASE WHEN timed > 0 THEN lasts END AS duration_ns, shortest_ns,
       longest_ns
ORDER BY collective_kind, from_bytes
