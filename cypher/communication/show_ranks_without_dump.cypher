// Ranks of the job without a readable dump where others have one, the groups they are in, and what lacks them.
// param run: text, the run asked
// column rank: int, global rank
// column awaited_by: int, collectives that lack it, and ranks whose send or recv does
// column groups: list[text], group keys of its groups
MATCH (r:Rank)
WHERE r.run = $run AND r.dump = 'no file'
OPTIONAL MATCH (r)-[:MEMBER]->(g:ProcessGroup)
WITH r, g ORDER BY g.group
WITH r.uid AS uid, r.rank AS rank, COUNT { (r)<-[:WAITS_FOR]-() } AS awaited_by, collect(g.group) AS groups
RETURN rank, awaited_by, groups
ORDER BY rank, uid, awaited_by
