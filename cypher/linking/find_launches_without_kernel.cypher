// Calls that launch a kernel or a graph and have no device op with their correlation: it ran after the window,
// or was not recorded. Copies and sets are left out: not every such call makes a device op.
// check: launch_without_kernel   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column calls: int, how many
// column subjects: list[int], uids of the first 100
MATCH (launch:RuntimeCall)
WHERE launch.run = $run AND launch.name =~ '(cuda|cu|hip)[A-Za-z]*Launch[A-Za-z_0-9]*'
  AND NOT launch.name CONTAINS 'HostFunc' AND NOT EXISTS { (launch)-[:LAUNCHES]->() }
WITH launch ORDER BY launch.uid
WITH launch.rank AS rank, count(*) AS calls, collect(launch.uid) AS uids
RETURN rank, calls, uids[0..100] AS subjects
ORDER BY rank
