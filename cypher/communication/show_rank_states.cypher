// Each rank of the job: what its dump holds, the first call it has not finished, and how many it has not.
// param run: text, the run asked
// column rank: int, global rank
// column host: text, host name as recorded
// column dump: text, kept, active only, none; no file where others have one; null without any
// column first_unfinished: text, first call that it has not finished; null for none
// column site: text, file:line that made that call
// column unfinished: int, calls that it has not finished
// column awaited_by: int, collectives that lack it, and ranks whose send or recv does
MATCH (r:Rank)
WHERE r.run = $run
RETURN r.rank AS rank, r.host AS host, r.dump AS dump, r.first_unfinished AS first_unfinished,
       r.first_unfinished_site AS site, r.unfinished AS unfinished, COUNT { (r)<-[:WAITS_FOR]-() } AS awaited_by
ORDER BY rank, r.uid
