// The collectives whose members came furthest apart, who came last, and the clock offset taken off that rank.
// param run: text, the run asked
// param group: text = null, only this group, by its key: name and members
// param count: int = 20, how many
// column group: text, group key: name and members
// column collective_seq_id: int, number within the group
// column name: text, kind and number, e.g. all_reduce #6
// column skew_ns: int, from the first start to the last, clock offsets taken off: the wait of who came first
// column transfer_ns: int, from the last start to the earliest end after it: the time without waiting
// column last_rank: int, member that started it last
// column last_clock_offset_ns: int, clock of that rank less that of the lowest rank; null where it is not known
// column calls: int, members whose call is in the graph
// column uid: int, the collective
MATCH (c:Collective)
WHERE c.run = $run AND c.skew_ns IS NOT NULL AND ($group IS NULL OR c.group = $group)
WITH c ORDER BY c.skew_ns DESC, c.uid LIMIT $count
OPTIONAL MATCH (r:Rank) WHERE r.run = $run AND r.rank = c.last_rank
RETURN c.group AS group, c.collective_seq_id AS collective_seq_id, c.name AS name, c.skew_ns AS skew_ns,
       c.transfer_ns AS transfer_ns, c.last_rank AS last_rank, r.clock_offset_ns AS last_clock_offset_ns,
       c.calls AS calls, c.uid AS uid
ORDER BY skew_ns DESC, uid, r.uid
