// The collectives that took longest once all members were in: the time without waiting, and the wait apart.
// param run: text, the run asked
// param group: text = null, only this group, by its key: name and members
// param count: int = 20, how many
// column group: text, group key: name and members
// column collective_seq_id: int, number within the group
// column name: text, kind and number, e.g. all_reduce #6
// column transfer_ns: int, from the last start to the earliest end after it
// column skew_ns: int, from the first start to the last, clock offsets taken off
// column last_rank: int, member that started it last
// column calls: int, members whose call is in the graph
// column uid: int, the collective
MATCH (c:Collective)
WHERE c.run = $run AND c.transfer_ns IS NOT NULL AND ($group IS NULL OR c.group = $group)
RETURN c.group AS group, c.collective_seq_id AS collective_seq_id, c.name AS name, c.transfer_ns AS transfer_ns,
       c.skew_ns AS skew_ns, c.last_rank AS last_rank, c.calls AS calls, c.uid AS uid
ORDER BY transfer_ns DESC, uid
LIMIT $count
