// Which rank came last, per group: in how many collectives, and how long the first one waited for it in all.
// param run: text, the run asked
// column group: text, group key: name and members
// column last_rank: int, member that started them last
// column collectives: int, how many
// column skew_ns: int, sum over them from the first start to the last, clock offsets taken off
// column longest_skew_ns: int, longest of these
MATCH (c:Collective)
WHERE c.run = $run AND c.last_rank IS NOT NULL AND c.skew_ns IS NOT NULL
RETURN c.group AS group, c.last_rank AS last_rank, count(*) AS collectives, sum(c.skew_ns) AS skew_ns,
       max(c.skew_ns) AS longest_skew_ns
ORDER BY group, skew_ns DESC, last_rank
