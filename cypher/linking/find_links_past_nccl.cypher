// NCCL and RCCL kernels linked past nccl:X: their launch hangs off an op above it although an nccl:X below that
// op encloses the launch in time.
// check: linked_past_nccl   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column device_ops: int, how many
// column subjects: list[int], uids of the first 100
MATCH (k:Kernel)<-[:LAUNCHES]-(launch:RuntimeCall)<-[:CTRL]-(above:HostOp)-[:CTRL]->(inner:HostOp)
WHERE k.run = $run AND k.collective_kind IS NOT NULL
  AND inner.name STARTS WITH 'nccl:' AND NOT above.name STARTS WITH 'nccl:' AND inner.thread = launch.thread
  AND inner.start_ns <= launch.start_ns AND inner.start_ns + inner.duration_ns >= launch.start_ns
WITH DISTINCT k.rank AS rank, k.uid AS uid
WITH rank, uid ORDER BY uid
WITH rank, count(*) AS device_ops, collect(uid) AS uids
RETURN rank, device_ops, uids[0..100] AS subjects
ORDER BY rank
