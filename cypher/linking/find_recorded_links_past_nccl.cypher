// The same in a merged execution trace, which names the parent of a kernel itself: an NCCL kernel under an op
// that has an nccl:X below it with no kernel of its own.
// check: linked_past_nccl   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column device_ops: int, how many
// column subjects: list[int], uids of the first 100
MATCH (k:Kernel)<-[:CTRL]-(above:HostOp)-[:CTRL]->(inner:HostOp)
WHERE k.run = $run AND (k.collective_kind IS NOT NULL OR k.name STARTS WITH 'nccl')
  AND inner.name STARTS WITH 'nccl:' AND NOT above.name STARTS WITH 'nccl:'
  AND NOT EXISTS { (inner)-[:CTRL]->(:Kernel) }
WITH DISTINCT k.rank AS rank, k.uid AS uid
WITH rank, uid ORDER BY uid
WITH rank, count(*) AS device_ops, collect(uid) AS uids
RETURN rank, device_ops, uids[0..100] AS subjects
ORDER BY rank
