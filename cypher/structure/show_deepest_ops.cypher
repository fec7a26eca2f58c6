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
WITH n.uid AS wanted, n.depth AS deep ORDER BY deep DESC, wanted LIMIT $count
MATCH (op:Op {uid: wanted})
RETURN wanted AS uid, op.rank AS rank, op.depth AS depth, op.name AS name, op.path AS path
ORDER BY depth DESC, wanted
