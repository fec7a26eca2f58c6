// The longest times a stream lay idle, and why, by what ended them (HTA: idle time breakdown). host wait: it was
// launched only after the work before had ended. kernel wait: launched in time, and the gap is that of two launches.
// param run: text, the run asked
// param count: int = 20, how many
// param rank: int = null, one rank alone
// param kernel_wait_below_ns: int = 30, a gap shorter than this is a kernel wait
// column rank: int, global rank
// column device: int, device number
// column stream: int, stream number
// column idle_ns: int, how long it lay idle
// column start_ns: int, when that began
// column reason: text, host wait, kernel wait, other or launch unknown
// column uid: int, the device op that ended it
// column name: text, its name
// column launch_ns: int, start of its launch; null where no file has it
MATCH (k:Kernel)
WHERE k.run = $run AND k.idle_ns > 0 AND ($rank IS NULL OR k.rank = $rank)
WITH k ORDER BY k.idle_ns DESC, k.uid LIMIT $count
WITH k, head([(k)<-[:LAUNCHES]-(c:RuntimeCall) | c.start_ns]) AS launch_ns
RETURN k.rank AS rank, k.device AS device, k.stream AS stream, k.idle_ns AS idle_ns,
       k.start_ns - k.idle_ns AS start_ns,
       CASE WHEN launch_ns IS NULL THEN 'launch unknown'
            WHEN launch_ns > k.start_ns - k.idle_ns THEN 'host wait'
            WHEN k.idle_ns < $kernel_wait_below_ns THEN 'kernel wait' ELSE 'other' END AS reason,
       k.uid AS uid, k.name AS name, launch_ns
ORDER BY idle_ns DESC, uid
