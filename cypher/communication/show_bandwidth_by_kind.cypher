// Algorithm and bus bandwidth by group and kind in GB/s (10^9 B): all that was moved over all the time it took.
// Sizes, times and factors are those of show_bandwidth (nccl-tests, doc/PERFORMANCE.md).
// param run: text, the run asked
// column group: text, group key: name and members
// column collective_kind: text, all_reduce, all_gather …
// column members: int, members of the group
// column collectives: int, those whose size and time are known
// column size_bytes: int, sum of their sizes
// column transfer_ns: int, sum of their times without waiting
// column algorithm_gb_s: float, size / time
// column bus_gb_s: float, that as each link has to carry it
// column slowest_bus_gb_s: float, of the slowest of them
// column fastest_bus_gb_s: float, of the fastest of them
MATCH (c:CollectiveCall)-[:CALL_OF]->(whole:Collective)
WHERE c.run = $run AND whole.transfer_ns > 0 AND c.size_bytes IS NOT NULL
WITH whole, max(c.size_bytes) AS input
MATCH (whole)-[:IN_GROUP]->(g:ProcessGroup)
WHERE input > 0 AND size(g.members) > 1
WITH whole.group AS group, whole.collective_kind AS kind, whole.transfer_ns AS lasts, size(g.members) AS members, input
WITH group, kind, members, lasts,
     CASE WHEN kind IN ['all_gather', 'gather'] THEN input * members ELSE input END AS bytes,
     CASE WHEN kind = 'all_reduce' THEN 2.0 * (members - 1) / members
          WHEN kind IN ['broadcast', 'reduce'] THEN 1.0
          ELSE 1.0 * (members - 1) / members END AS factor
WITH group, kind, members, factor, count(*) AS collectives, sum(bytes) AS size_bytes, sum(lasts) AS transfer_ns,
     min(factor * bytes / lasts) AS slowest, max(factor * bytes / lasts) AS fastest
RETURN group, kind AS collective_kind, members, collectives, size_bytes, transfer_ns,
       1.0 * size_bytes / transfer_ns AS algorithm_gb_s, factor * size_bytes / transfer_ns AS bus_gb_s,
       slowest AS slowest_bus_gb_s, fastest AS fastest_bus_gb_s
ORDER BY group, collective_kind, members, factor
