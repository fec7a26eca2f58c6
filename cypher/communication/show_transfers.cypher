// Sends with the recvs that took them: both ends, size and times. A send whose recv is not proven has none.
// param run: text, the run asked
// param src: int = null, only what this global rank sends
// param dst: int = null, only what this global rank receives, as the send says
// param count: int = 1000, how many rows at most, the longest sends first
// column src: int, global rank that sends
// column dst: int, global rank it names; null where that is not proven
// column tag: int, tag
// column size_bytes: int, bytes sent
// column send_start_ns: int, start of the send, by its rank's clock
// column send_ns: int, measured time of the send
// column recv_start_ns: int, start of the recv, by its rank's clock
// column recv_ns: int, measured time of the recv
// column rule: text, what pairs them
// column send: int, key of the send
// column recv: int, key of the recv
MATCH (c:CollectiveCall)
WHERE c.run = $run AND c.collective_kind = 'send' AND ($src IS NULL OR c.rank = $src)
OPTIONAL MATCH (c)-[pair:PEER]->(other:CollectiveCall)
WITH c, pair.rule AS rule, coalesce(other.rank, c.peer_rank) AS dst, other.start_ns AS recv_start_ns,
     other.duration_ns AS recv_ns, other.uid AS recv
WHERE $dst IS NULL OR dst = $dst
RETURN c.rank AS src, dst, c.tag AS tag, c.size_bytes AS size_bytes, c.start_ns AS send_start_ns,
       c.duration_ns AS send_ns, recv_start_ns, recv_ns, rule, c.uid AS send, recv
ORDER BY coalesce(send_ns, -1) DESC, send, recv
LIMIT $count
