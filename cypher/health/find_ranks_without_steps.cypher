// Ranks none of whose files marks a step (ProfilerStep): queries by step give nothing for them.
// check: no_step_marks   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column files: int, execution traces and Kineto traces of the rank
MATCH (f:TraceFile)
WHERE f.run = $run AND f.kind IN ['et', 'et_plus', 'kineto'] AND f.rank IS NOT NULL AND f.problem IS NULL
WITH f.rank AS rank, count(*) AS files, sum(coalesce(f.step_marks, 0)) AS marks
WHERE marks = 0
RETURN rank, files
ORDER BY rank
