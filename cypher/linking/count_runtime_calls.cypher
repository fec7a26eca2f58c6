// Runtime and driver calls by name: how many, how long, how many of them launched something.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column name: text, cudaLaunchKernel, cudaMemcpyAsync, cudaDeviceSynchronize …
// column calls: int, how many
// column duration_ns: int, time of the host in them
// column longest_ns: int, the longest
// column launching: int, of them, those with a device op
MATCH (c:RuntimeCall)
WHERE c.run = $run AND ($rank IS NULL OR c.rank = $rank)
WITH c, CASE WHEN EXISTS { (c)-[:LAUNCHES]->() } THEN 1 ELSE 0 END AS launches
RETURN c.name AS name, count(*) AS calls, sum(c.duration_ns) AS duration_ns, max(c.duration_ns) AS longest_ns,
       sum(launches) AS launching
ORDER BY duration_ns DESC, name
