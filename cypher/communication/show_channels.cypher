// Sends and recvs per directed edge (group, sending rank, receiving rank): how many pair, and by what.
// param run: text, the run asked
// column group: text, group key: name and members
// column src: int, global rank that sends
// column dst: int, global rank that receives
// column verdict: text, MATCHED, SOLVED, AMBIGUOUS, INCOMPLETE, SIZE_MISMATCH or NO_DUMP
// column sends: int, sends recorded
// column recvs: int, recvs recorded
// column matched: int, pairs that are proven
// column solved: int, pairs found through counters or equal ends
// column ambiguous: int, sends and recvs whose partner cannot be told
// column send_only: int, sends proven to have no recv
// column recv_only: int, recvs proven to have no send
// column size_mismatch: int, pairs whose element counts or types differ
// column in_flight: bool, whether its two ranks stand at both of its ends
// column how: text, anchor that settled it; empty where none did
// column uid: int, the channel
MATCH (c:Channel)
WHERE c.run = $run
RETURN c.group AS group, c.src AS src, c.dst AS dst, c.verdict AS verdict, c.sends AS sends, c.recvs AS recvs,
       c.matched AS matched, c.solved AS solved, c.ambiguous AS ambiguous, c.send_only AS send_only,
       c.recv_only AS recv_only, c.size_mismatch AS size_mismatch, c.in_flight AS in_flight, c.how AS how,
       c.uid AS uid
ORDER BY group, src, dst, uid
