// The host ops with the most callers above them.
// param run: text, the run asked
// param rank: int = null, one rank alone
// param count: int = 20, how many
// column uid: int, the op
// column rank: int, global rank
// column depth: int, callers above it
// column name: text, its name
// column path: text, names from the top of the tree to the op
MATCH (n:HostOp)
WHERE n.run = $run AND n.depth IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
WITH n ORDER BY n.depth DESC, n.uid LIMIT $count
RETURN n.uid AS uid, n.rank AS rank, n.depth AS depth, n.name AS name, n.path AS path
ORDER BY depth DESC, uid
