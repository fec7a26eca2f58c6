// Device ops launched before the trace began: their correlation lies below the lowest of the file's runtime
// calls. They are work like any other, only their launch is not in the file.
// check: launched_before_window   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column device_ops: int, how many
// column subjects: list[int], uids of the first 100
MATCH (k:Kernel)
WHERE k.run = $run AND k.launch_class = 'before_window'
WITH k ORDER BY k.uid
WITH k.rank AS rank, count(*) AS device_ops, collect(k.uid) AS uids
RETURN rank, device_ops, uids[0..100] AS subjects
ORDER BY rank
