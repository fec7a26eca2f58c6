// Who waits for whom: for each rank that stands in a call, the ranks which that call lacks, and why.
// Through a collective the wait is rank → collective → rank, in a send or recv rank → rank. A rank in a call of
// which nobody is known to lack has one row, without an awaited rank.
// param run: text, the run asked
// column rank: int, rank that waits
// column stands_in: text, its first unfinished call, e.g. all_reduce #6
// column site: text, file:line that made the call; null without frames
// column group: text, group key of the collective; null for a send or recv
// column collective_seq_id: int, number of the collective; null for a send or recv
// column wait: text, never (called), queued (behind another call), p2p, no_dump, undecided; or in_call
// column awaited_rank: int, rank waited for
// column awaited_stands_in: text, first unfinished call of that rank; null for none
// column awaited_site: text, file:line that made it
MATCH (r:Rank)-[to:WAITS_FOR]->(at)
WHERE r.run = $run
OPTIONAL MATCH (at)-[of:WAITS_FOR]->(lacks:Rank)
WHERE to.wait = 'in_call'
WITH r, coalesce(of.wait, to.wait) AS wait, at.group AS group, at.collective_seq_id AS collective_seq_id,
     CASE WHEN to.wait = 'in_call' THEN lacks.rank ELSE at.rank END AS awaited_rank,
     CASE WHEN to.wait = 'in_call' THEN lacks.first_unfinished ELSE at.first_unfinished END AS awaited_stands_in,
     CASE WHEN to.wait = 'in_call' THEN lacks.first_unfinished_site ELSE at.first_unfinished_site END AS awaited_site
RETURN r.rank AS rank, r.first_unfinished AS stands_in, r.first_unfinished_site AS site, group, collective_seq_id,
       wait, awaited_rank, awaited_stands_in, awaited_site
ORDER BY rank, stands_in, site, group, collective_seq_id, wait, awaited_rank, awaited_stands_in, awaited_site
