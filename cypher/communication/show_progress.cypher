// How far each rank came in each of its groups: the window its file still holds, and its own counters.
// param run: text, the run asked
// column group: text, group key: name and members
// column rank: int, member
// column dump: text, what its Flight Recorder dump holds: kept, active only, none; or no file
// column first_kept: int, collective_seq_id of its first recorded collective in the group
// column last_kept: int, collective_seq_id of the last one
// column kept: int, collectives of the group that its file holds
// column last_enqueued: int, collective_seq_id of the last one it began, by its own counter
// column last_completed: int, collective_seq_id of the last one it ended, by its own counter
// column first_unfinished: text, first call it has not finished, of any of its groups; null for none
// column site: text, file:line that made that call
MATCH (r:Rank)-[m:MEMBER]->(g:ProcessGroup)
WHERE r.run = $run
RETURN g.group AS group, r.rank AS rank, r.dump AS dump, m.first_kept AS first_kept, m.last_kept AS last_kept,
       m.kept AS kept, m.last_enqueued AS last_enqueued, m.last_completed AS last_completed,
       r.first_unfinished AS first_unfinished, r.first_unfinished_site AS site
ORDER BY group, rank, r.uid, g.uid
