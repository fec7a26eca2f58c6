// The sends and recvs of one directed edge, each with the call it pairs with.
// param run: text, the run asked
// param group: text, group key: name and members
// param src: int, global rank that sends
// param dst: int, global rank that receives
// column rank: int, global rank
// column collective_kind: text, send or recv
// column p2p_seq_id: int, number of the send or recv in the group on this rank; null where the file has none
// column state: text, as recorded: scheduled, started or completed
// column in_sizes: json, shapes of the inputs
// column out_sizes: json, shapes of the outputs
// column start_ns: int, start
// column duration_ns: int, duration
// column site: text, file:line that made the call; null without frames
// column uid: int, the call
// column peer_rank: int, rank of the call it pairs with; null for none
// column peer_uid: int, the call it pairs with
// column rule: text, what says that they pair
MATCH (c:Channel)<-[:CALL_OF]-(comm:CollectiveCall)
WHERE c.run = $run AND c.group = $group AND c.src = $src AND c.dst = $dst
OPTIONAL MATCH (comm)-[p:PEER]-(other:Op)
RETURN comm.rank AS rank, comm.collective_kind AS collective_kind, comm.p2p_seq_id AS p2p_seq_id,
       comm.state AS state, comm.in_sizes AS in_sizes, comm.out_sizes AS out_sizes, comm.start_ns AS start_ns,
       comm.duration_ns AS duration_ns, comm.site AS site, comm.uid AS uid, other.rank AS peer_rank,
       other.uid AS peer_uid, p.rule AS rule
ORDER BY collective_kind DESC, p2p_seq_id, start_ns, uid, peer_uid, c.uid
