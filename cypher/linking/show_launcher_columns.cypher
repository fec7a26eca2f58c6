// The device ops of one rank that a host op launched, with it, as parallel lists in one row, for keys of device ops
// from $first to before $after.
// internal: diff
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys of the device ops
// column launcher: list[int], keys of the host ops whose runtime calls launched them
MATCH (k:Kernel)<-[:LAUNCHES]-(:RuntimeCall)<-[:CTRL]-(n:HostOp)
WHERE k.run = $run AND k.rank = $rank AND k.uid >= $first AND k.uid < $after
RETURN collect(k.uid) AS uid, collect(n.uid) AS launcher
