// How deep the call tree is: host ops by the number of callers above them.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column rank: int, global rank
// column depth: int, callers above; null for an op whose callers run in a circle
// column ops: int, host ops at that depth
MATCH (n:HostOp)
WHERE n.run = $run AND ($rank IS NULL OR n.rank = $rank)
RETURN n.rank AS rank, n.depth AS depth, count(*) AS ops
ORDER BY rank, depth
