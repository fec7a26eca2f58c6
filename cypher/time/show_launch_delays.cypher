// The device ops that began longest after their launch call did: they stood in the queue of their stream.
// param run: text, the run asked
// param count: int = 20, how many
// param rank: int = null, one rank alone
// column uid: int, the device op
// column rank: int, global rank
// column stream: int, its stream
// column name: text, its name
// column launched_by: text, name of the call that launched it
// column launch_ns: int, start of that call
// column delay_ns: int, from there to the start of the device op
// column duration_ns: int, how long the device op lasts
MATCH (k:Kernel)<-[:LAUNCHES]-(c:RuntimeCall)
WHERE k.run = $run AND ($rank IS NULL OR k.rank = $rank)
RETURN k.uid AS uid, k.rank AS rank, k.stream AS stream, k.name AS name, c.name AS launched_by,
       c.start_ns AS launch_ns,       k.start_ns - c.start_ns AS delay_ns, k.duration_ns AS duration_ns
ORDER BY delay_ns DESC, uid, c.uid
LIMIT $count
