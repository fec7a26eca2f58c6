// Who waited for whom within a rank: the SYNC edges, by start of what waits.
// param run: text, the run asked
// param rank: int, global rank
// column awaited: int, uid of what is waited for
// column awaited_name: text, its name
// column waits: int, uid of what waits
// column waits_name: text, its name
// column rule: text, what says so: recorded, certain, likely or timing behind the point
// column from_end_to_start_ns: int, from the end of the one to the start of the other; below 0 where it waits inside
MATCH (a:Op)-[e:SYNC]->(b:Op)
WHERE a.run = $run AND a.rank = $rank
RETURN a.uid AS awaited, a.name AS awaited_name, b.uid AS waits, b.name AS waits_name, e.rule AS rule,
       b.start_ns - (a.start_ns + a.duration_ns) AS from_end_to_start_ns
ORDER BY b.start_ns, waits, awaited
