// Collectives of one group, kind and size that take unlike long once all members are in: the least even first.
// The same work at another speed hints at a shared link, another stream's traffic, or throttling.
// param run: text, the run asked
// param at_least: int = 2, only where there are this many of them
// column group: text, group key: name and members
// column collective_kind: text, all_reduce, all_gather …
// column size_bytes: int, largest input of a member
// column collectives: int, how many of them
// column shortest_ns: int, shortest time without waiting
// column average_ns: float, average of these times
// column longest_ns: int, longest of these times
// column spread_ns: int, longest less shortest
MATCH (c:CollectiveCall)-[:CALL_OF]->(whole:Collective)
WHERE c.run = $run AND whole.transfer_ns IS NOT NULL
WITH whole, max(c.size_bytes) AS size_bytes
WITH whole.group AS group, whole.collective_kind AS collective_kind, size_bytes, count(*) AS collectives,
     min(whole.transfer_ns) AS shortest_ns, avg(whole.transfer_ns) AS average_ns, max(whole.transfer_ns) AS longest_ns
WHERE collectives >= $at_least
RETURN group, collective_kind, size_bytes, collectives, shortest_ns, average_ns, longest_ns,
       longest_ns - shortest_ns AS spread_ns
ORDER BY spread_ns DESC, group, collective_kind, size_bytes
