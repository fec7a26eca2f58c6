// How long each rank waited in the collectives of each group for the member that came last.
// param run: text, the run asked
// column group: text, group key: name and members
// column rank: int, global rank
// column calls: int, its calls whose wait is known
// column wait_ns: int, sum of its waits, clock offsets taken off
// column longest_wait_ns: int, longest of them
MATCH (comm:CollectiveCall)
WHERE comm.run = $run AND comm.wait_ns IS NOT NULL
RETURN comm.group AS group, comm.rank AS rank, count(*) AS calls, sum(comm.wait_ns) AS wait_ns,
       max(comm.wait_ns) AS longest_wait_ns
ORDER BY group, rank
