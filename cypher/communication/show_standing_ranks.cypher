// Ranks that have not finished a call, with the first such call, and the collective that it is part of.
// param run: text, the run asked
// column rank: int, global rank
// column pg_name: text, process group name of the call
// column first_unfinished: text, the call, e.g. all_reduce #6
// column site: text, file:line that made it
// column unfinished: int, calls that the rank has not finished
// column collective: int, uid of the Collective; null for a send or recv
MATCH (r:Rank)
WHERE r.run = $run AND r.first_unfinished IS NOT NULL
OPTIONAL MATCH (r)-[:WAITS_FOR]->(c:Collective)
RETURN r.rank AS rank, r.first_unfinished_group AS pg_name, r.first_unfinished AS first_unfinished,
       r.first_unfinished_site AS site, r.unfinished AS unfinished, c.uid AS collective
ORDER BY rank, r.uid, c.uid
