// The flow of tensors by op name: how often ops of one name take what ops of another returned.
// param run: text, the run asked
// param rank: int = null, only this global rank
// param count: int = 50, how many pairs, the most frequent first
// column producer: text, name of the ops that returned a tensor storage
// column consumer: text, name of the ops that took it from them
// column flows: int, pairs of such ops
// column ranks: int, ranks with such pairs
MATCH (a:HostOp)-[:DATA]->(b:HostOp)
WHERE a.run = $run AND ($rank IS NULL OR a.rank = $rank)
RETURN a.name AS producer, b.name AS consumer, count(*) AS flows, count(DISTINCT a.rank) AS ranks
ORDER BY flows DESC, producer, consumer
LIMIT $count
