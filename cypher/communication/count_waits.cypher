// The ranks that others wait for: how many calls lack them, and how many ranks stand in these. Most first.
// param run: text, the run asked
// column awaited_rank: int, rank waited for
// column wait: text, never (called), queued (behind another call), p2p, no_dump or undecided
// column calls: int, collectives that lack it, and ranks whose send or recv does
// column waiting_ranks: int, ranks that stand in these calls
// column dump: text, what its Flight Recorder dump holds
// column stands_in: text, its own first unfinished call; null for none
// column site: text, file:line that made that call
MATCH (awaited:Rank)<-[w:WAITS_FOR]-(x)
WHERE awaited.run = $run
WITH awaited.rank AS awaited_rank, w.wait AS wait, awaited.dump AS dump, awaited.first_unfinished AS stands_in,
     awaited.first_unfinished_site AS site, CASE WHEN x.rank IS NULL THEN COUNT { (x)<-[:WAITS_FOR]-() } ELSE 1 END
     AS waiting
RETURN awaited_rank, wait, count(*) AS calls, sum(waiting) AS waiting_ranks, dump, stands_in, site
ORDER BY waiting_ranks DESC, awaited_rank, wait, dump, stands_in, site
