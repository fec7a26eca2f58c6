// Device ops whose launch is in the file and lies inside no host op of its thread.
// check: no_host_op   severity: warning   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column device_ops: int, how many
// column subjects: list[int], uids of the first 100
MATCH (k:Kernel)<-[:LAUNCHES]-(launch:RuntimeCall)
WHERE k.run = $run AND NOT EXISTS { (launch)<-[:CTRL]-() }
WITH k ORDER BY k.uid
WITH k.rank AS rank, count(*) AS device_ops, collect(k.uid) AS uids
RETURN rank, device_ops, uids[0..100] AS subjects
ORDER BY rank
