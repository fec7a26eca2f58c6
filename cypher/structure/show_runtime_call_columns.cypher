// The runtime calls of one rank with the host op that made each, as parallel columns in one row, for keys of calls
// from $first to before $after.
// internal: repairs
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column caller: list[int], uids of the host ops
MATCH (c:RuntimeCall)<-[:CTRL]-(h:HostOp)
WHERE c.run = $run AND c.rank = $rank AND c.uid >= $first AND c.uid < $after
RETURN collect(c.uid) AS uid, collect(h.uid) AS caller
