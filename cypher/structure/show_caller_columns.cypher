// The host ops of one rank that have a caller, with it, as parallel columns in one row, for keys of host ops from
// $first to before $after.
// internal: repairs
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column caller: list[int], uids of the ops that the CTRL edges come from
MATCH (n:HostOp)<-[:CTRL]-(above:Op)
WHERE n.run = $run AND n.rank = $rank AND n.uid >= $first AND n.uid < $after
RETURN collect(n.uid) AS uid, collect(above.uid) AS caller
