// The calls in which a rank waited longest for the member that came last, and who that was.
// param run: text, the run asked
// param rank: int = null, only the waits of this global rank
// param group: text = null, only this group, by its key: name and members
// param count: int = 20, how many
// column rank: int, the rank that waited
// column wait_ns: int, how long: the part of the call before the last member came, as in show_wait_and_transfer
// column last_rank: int, the member waited for
// column group: text, group key: name and members
// column name: text, kind and number of the collective, e.g. all_reduce #6
// column start_ns: int, start of the waiting call since the run's origin
// column duration_ns: int, its measured time
// column size_bytes: int, its input bytes
// column call: int, key of the call
MATCH (c:CollectiveCall)-[:CALL_OF]->(whole:Collective)
WHERE c.run = $run AND c.wait_ns IS NOT NULL AND c.duration_ns IS NOT NULL
  AND ($rank IS NULL OR c.rank = $rank) AND ($group IS NULL OR whole.group = $group)
RETURN c.rank AS rank, CASE WHEN c.wait_ns > c.duration_ns THEN c.duration_ns ELSE c.wait_ns END AS wait_ns,
       whole.last_rank AS last_rank, whole.group AS group, whole.name AS name, c.start_ns AS start_ns,
       c.duration_ns AS duration_ns, c.size_bytes AS size_bytes, c.uid AS `call`
ORDER BY wait_ns DESC, `call`, whole.uid
LIMIT $count
