// Ranks that are waited for: by a collective, once for all that stand in it, or by a rank in a send or recv.
// param run: text, the run asked
// column waiting: text, collective or rank
// column key: int, uid of the Collective, or the rank that waits
// column rank: int, the rank waited for
// column wait: text, never, queued, p2p, no_dump or undecided
MATCH (c:Collective)-[w:WAITS_FOR]->(r:Rank)
WHERE c.run = $run
RETURN 'collective' AS waiting, c.uid AS key, r.rank AS rank, w.wait AS wait
UNION ALL
MATCH (other:Rank)-[w:WAITS_FOR]->(r:Rank)
WHERE other.run = $run
RETURN 'rank' AS waiting, other.rank AS key, r.rank AS rank, w.wait AS wait
