// Directed edges whose sends and recvs are not all paired, or pair with unequal sizes; what is open about them.
// param run: text, the run asked
// column group: text, group key: name and members
// column src: int, global rank that sends
// column dst: int, global rank that receives
// column verdict: text, AMBIGUOUS, INCOMPLETE, SIZE_MISMATCH or NO_DUMP
// column ambiguous: int, sends and recvs whose partner cannot be told
// column send_only: int, sends proven to have no recv
// column recv_only: int, recvs proven to have no send
// column size_mismatch: int, pairs whose element counts or types differ
// column reordered: bool, whether both sides made the same transfers in different orders
// column evicted_src: int, sends made before the first recorded one; null where not known
// column evicted_dst: int, recvs made before the first recorded one; null where not known
// column offset_low: int, smallest offset possible between the first send and the first recv; null without bound
// column offset_high: int, largest offset possible; null without bound
// column in_flight: bool, whether its two ranks stand at both of its ends
// column uid: int, the channel
MATCH (c:Channel)
WHERE c.run = $run AND NOT c.verdict IN ['MATCHED', 'SOLVED']
RETURN c.group AS group, c.src AS src, c.dst AS dst, c.verdict AS verdict, c.ambiguous AS ambiguous,
       c.send_only AS send_only, c.recv_only AS recv_only, c.size_mismatch AS size_mismatch,
       c.reordered AS reordered, c.evicted_src AS evicted_src, c.evicted_dst AS evicted_dst,
       c.offset_low AS offset_low, c.offset_high AS offset_high, c.in_flight AS in_flight, c.uid AS uid
ORDER BY group, src, dst, uid
