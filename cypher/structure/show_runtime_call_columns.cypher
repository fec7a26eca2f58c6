// The runtime calls of one rank with the host op that made each, as parallel columns in one row.
// param rank: int, global rank
// column uid: list[int], keys
// column caller: list[int], uids of the host ops
MATCH (h:HostOp)-[:CTRL]->(c:RuntimeCall) WHERE h.run = $run AND h.rank = $rank
RETURN collect(c.uid) AS uid, collect(h.uid) AS caller
