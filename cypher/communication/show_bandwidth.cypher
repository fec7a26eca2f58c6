// How fast each collective moved its data once all members were in: algorithm and bus bandwidth in GB/s (10^9 B).
// As nccl-tests count them (doc/PERFORMANCE.md there): algorithm bandwidth = size / time; bus bandwidth = that times
// 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter, all_to_all, gather and scatter, 1 for broadcast
// and reduce, n = members. The size is the largest input of a member, for all_gather and gather n times that: what all
// end up with. The time is the collective's transfer_ns, without the wait for the last member.
// param run: text, the run asked
// param group: text = null, only this group, by its key: name and members
// param kind: text = null, only this kind: all_reduce, all_gather …
// param count: int = 1000, how many rows at most, the slowest first
// column group: text, group key: name and members
// column name: text, kind and number, e.g. all_reduce #6
// column members: int, members of the group
// column size_bytes: int, the size that is divided by the time
// column transfer_ns: int, from the last start to the earliest end after it
// column algorithm_gb_s: float, size / time
// column bus_gb_s: float, that as each link has to carry it
// column collective: int, key of the collective
MATCH (c:CollectiveCall)-[:CALL_OF]->(whole:Collective)
WHERE c.run = $run AND whole.transfer_ns > 0 AND c.size_bytes IS NOT NULL
  AND ($group IS NULL OR whole.group = $group) AND ($kind IS NULL OR whole.collective_kind = $kind)
WITH whole, max(c.size_bytes) AS input
MATCH (whole)-[:IN_GROUP]->(g:ProcessGroup)
WHERE input > 0 AND size(g.members) > 1
WITH whole, g, size(g.members) AS members, input
WITH whole, g, members,
     CASE WHEN whole.collective_kind IN ['all_gather', 'gather'] THEN input * members ELSE input END AS size_bytes,
     CASE WHEN whole.collective_kind = 'all_reduce' THEN 2.0 * (members - 1) / members
          WHEN whole.collective_kind IN ['broadcast', 'reduce'] THEN 1.0
          ELSE 1.0 * (members - 1) / members END AS factor
RETURN whole.group AS group, whole.name AS name, members, size_bytes, whole.transfer_ns AS transfer_ns,
       1.0 * size_bytes / whole.transfer_ns AS algorithm_gb_s,
       factor * size_bytes / whole.transfer_ns AS bus_gb_s, whole.uid AS collective
ORDER BY bus_gb_s, collective, g.uid
LIMIT $count
