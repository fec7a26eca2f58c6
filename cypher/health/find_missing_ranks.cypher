// Runs of which fewer ranks are loaded than the job had.
// check: ranks_missing   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column subject: int, uid of the run
// column world_size: int, ranks of the job
// column ranks: list[int], ranks loaded
MATCH (r:Run)
WHERE r.run = $run AND r.world_size > size(r.ranks)
RETURN r.uid AS subject, r.world_size AS world_size, r.ranks AS ranks
ORDER BY subject
