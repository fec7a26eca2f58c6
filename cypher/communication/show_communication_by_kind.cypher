// What is communicated, by kind of call and element type: calls, elements, bytes, time.
// One type has other names in an execution trace (long int, c10::Half) than in a Kineto trace or a dump (Long, Half):
// those of one type share a row.
// param run: text, the run asked
// param rank: int = null, only the calls of this global rank
// param group: text = null, only this group, by its key: name and members
// column collective_kind: text, all_reduce, send …; null where it is not known
// column dtype: text, element type, in small letters: float, long, half …; null where the files do not say
// column calls: int, calls of the ranks loaded
// column in_msg_nelems: int, sum of their input elements
// column size_bytes: int, sum of their input bytes, as far as the files say
// column largest_bytes: int, the largest of these
// column duration_ns: int, sum of their measured times; null where none is known
MATCH (c:CollectiveCall)
WHERE c.run = $run AND ($rank IS NULL OR c.rank = $rank) AND ($group IS NULL OR c.group = $group)
WITH c, last(split(toLower(c.dtype), 'c10::')) AS written
WITH c, CASE written WHEN 'long int' THEN 'long' WHEN 'unsigned char' THEN 'byte' WHEN 'signed char' THEN 'char'
        ELSE written END AS dtype
WITH c.collective_kind AS collective_kind, dtype, count(*) AS calls, sum(c.in_msg_nelems) AS in_msg_nelems,
     sum(c.size_bytes) AS size_bytes, max(c.size_bytes) AS largest_bytes, sum(c.duration_ns) AS lasts,
     count(c.duration_ns) AS timed
RETURN collective_kind, dtype, calls, in_msg_nelems, size_bytes, largest_bytes,
       CASE WHEN timed > 0 THEN lasts END AS duration_ns
ORDER BY size_bytes DESC, collective_kind, dtype
