// Tensors that are kept longest before they are used last: from the end of the op that returned their storage to
// the start of the last op that takes it from there. Forward results that the backward pass needs stand out.
// param run: text, the run asked
// param rank: int = null, only this global rank
// param count: int = 20, how many
// column rank: int, global rank
// column kept_ns: int, from the producer's end to the last consumer's start
// column output_bytes: int, bytes of all tensors the producer returned
// column producer: text, name of the op that returned them
// column last_consumer: text, name of the op that takes one of them last
// column consumers: int, ops that take one of them
// column uid: int, the producer
// column last_uid: int, the last consumer
MATCH (a:HostOp)-[:DATA]->(b:HostOp)
WHERE a.run = $run AND a.start_ns IS NOT NULL AND a.duration_ns IS NOT NULL AND b.start_ns IS NOT NULL
  AND ($rank IS NULL OR a.rank = $rank)
WITH a.uid AS uid, a.start_ns + a.duration_ns AS ended, max(b.start_ns) AS last, count(*) AS consumers
WITH uid, ended, last - ended AS kept_ns, last, consumers
ORDER BY kept_ns DESC, uid, ended
LIMIT $count
MATCH (a:Op {uid: uid})-[:DATA]->(b:HostOp)
WHERE b.start_ns = last
RETURN a.rank AS rank, kept_ns, a.output_bytes AS output_bytes, a.name AS producer, b.name AS last_consumer,
       consumers, a.uid AS uid, b.uid AS last_uid
ORDER BY kept_ns DESC, uid, ended, last_uid
