// The device ops that last longest.
// param run: text, the run asked
// param count: int = 20, how many
// param rank: int = null, one rank alone
// param work: text = null, computation, communication or memory alone
// column uid: int, the device op
// column rank: int, global rank
// column device: int, device number
// column stream: int, stream number
// column name: text, its name
// column work: text, computation, communication or memory
// column start_ns: int, its start
// column duration_ns: int, how long it lasts
MATCH (k:Kernel)
WHERE k.run = $run AND k.duration_ns IS NOT NULL AND ($rank IS NULL OR k.rank = $rank)
  AND ($work IS NULL OR k.work = $work)
RETURN k.uid AS uid, k.rank AS rank, k.device AS device, k.stream AS stream, k.name AS name, k.work AS work,
       k.start_ns AS start_ns, k.duration_ns AS duration_ns
ORDER BY duration_ns DESC, uid
LIMIT $count
