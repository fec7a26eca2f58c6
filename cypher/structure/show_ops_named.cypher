// The ops of a name.
// param run: text, the run asked
// param name: text, the name, as written in the trace
// column uid: int, the op
// column rank: int, its rank
MATCH (n:Op)
WHERE n.run = $run AND n.name = $name
RETURN n.uid AS uid, n.rank AS rank
ORDER BY uid
