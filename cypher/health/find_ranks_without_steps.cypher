// Ranks none of whose files marks a step (ProfilerStep): queries by step give nothing for them.
// check: no_step_marks   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column files: int, execution traces and Kineto traces of the rank
// column subjects: list[int], uids of the first 100 of them
MATCH (f:TraceFile)
WHERE f.run = $run AND f.kind IN ['et', 'et_plus', 'kineto'] AND f.rank IS NOT NULL AND f.problem IS NULL
WITH f ORDER BY f.uid
WITH f.rank AS rank, count(*) AS files, sum(coalesce(f.step_marks, 0)) AS marks, collect(f.uid) AS uids
WHERE marks = 0
RETURN rank, files, uids[0..100] AS subjects
ORDER BY rank
