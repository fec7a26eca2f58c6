// The calls that launch a kernel or a graph and have no device op, in order of time, with the op that made them.
// param run: text, the run asked
// param rank: int = null, one rank alone
// param count: int = 50, how many
// column uid: int, the call
// column rank: int, global rank
// column name: text, its name
// column correlation: int, correlation as recorded
// column caller: text, name of the host op that made it; null for none
// column start_ns: int, its start
MATCH (c:RuntimeCall)
WHERE c.run = $run AND c.name =~ '(cuda|cu|hip)[A-Za-z]*Launch[A-Za-z_0-9]*' AND NOT c.name CONTAINS 'HostFunc'
  AND NOT EXISTS { (c)-[:LAUNCHES]->() } AND ($rank IS NULL OR c.rank = $rank)
RETURN c.uid AS uid, c.rank AS rank, c.name AS name, c.correlation AS correlation,
       head([(c)<-[:CTRL]-(caller:HostOp) | caller.name]) AS caller, c.start_ns AS start_ns
ORDER BY rank, start_ns, uid
LIMIT $count
