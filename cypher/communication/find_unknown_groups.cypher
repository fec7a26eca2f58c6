// Communication calls for which no file says the process group.
// check: group_unknown   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column calls: int, calls without a group
// column of: int, calls in all
// column subjects: list[int], uids of the first 100 without
MATCH (comm:CollectiveCall)
WHERE comm.run = $run
WITH comm ORDER BY comm.uid
WITH comm.rank AS rank, count(*) AS of, collect(CASE WHEN comm.group IS NULL THEN comm.uid END) AS uids
WHERE size(uids) > 0
RETURN rank, size(uids) AS calls, of, uids[0..100] AS subjects
ORDER BY rank
