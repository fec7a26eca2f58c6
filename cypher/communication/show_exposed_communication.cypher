// Communication that nothing hid: how much of its time its rank computed meanwhile, and how much it did not.
// Measured time only: kernels of NCCL, a backend's own op of gloo; calls without such a time are left out.
// param run: text, the run asked
// column rank: int, global rank
// column group: text, group key: name and members; null where the files do not say
// column collective_kind: text, all_reduce, send …
// column calls: int, calls with a measured time
// column duration_ns: int, sum of their times: exposed and overlapped
// column exposed_ns: int, of it the rank computed nothing
// column overlapped_ns: int, of it the rank computed
MATCH (c:CollectiveCall)
WHERE c.run = $run AND c.exposed_ns IS NOT NULL
RETURN c.rank AS rank, c.group AS group, c.collective_kind AS collective_kind, count(*) AS calls,
       sum(c.exposed_ns) + sum(c.overlapped_ns) AS duration_ns, sum(c.exposed_ns) AS exposed_ns,
       sum(c.overlapped_ns) AS overlapped_ns
ORDER BY rank, group, collective_kind
