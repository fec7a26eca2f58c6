// The ops that call the most others, one step down.
// param run: text, the run asked
// param rank: int = null, one rank alone
// param count: int = 20, how many
// column uid: int, the op
// column rank: int, global rank
// column name: text, its name
// column called: int, how many it calls
// column duration_ns: int, how long it lasts
MATCH (n:HostOp)
WHERE n.run = $run AND ($rank IS NULL OR n.rank = $rank)
WITH n, COUNT { (n)-[:CTRL]->() } AS called
WHERE called > 0
RETURN n.uid AS uid, n.rank AS rank, n.name AS name, called, n.duration_ns AS duration_ns
ORDER BY called DESC, uid
LIMIT $count
