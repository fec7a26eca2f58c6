// Device ops whose launch should be in the file and is not: their correlation lies inside the range of the
// file's runtime calls and none of them has it.
// check: launch_lost   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column device_ops: int, how many
// column subjects: list[int], uids of the first 100
MATCH (k:Kernel)
WHERE k.run = $run AND k.launch_class = 'lost'
WITH k ORDER BY k.uid
WITH k.rank AS rank, count(*) AS device_ops, collect(k.uid) AS uids
RETURN rank, device_ops, uids[0..100] AS subjects
ORDER BY rank
