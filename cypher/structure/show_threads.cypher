// CPU threads of the run with what ran on them.
// param run: text, the run asked
// column rank: int, global rank
// column process: int, process id; null without a Kineto file
// column thread: int, thread id; null without a Kineto file
// column tid: int, thread number of the execution trace; null with a Kineto file
// column ops: int, host ops
// column first_ns: int, start of the first
// column last_ns: int, end of the last
MATCH (n:HostOp)
WHERE n.run = $run
WITH n.rank AS rank, n.process AS process, n.thread AS thread,
     CASE WHEN n.thread IS NULL THEN n.tid END AS tid, n.start_ns AS start, n.start_ns + n.duration_ns AS stop
RETURN rank, process, thread, tid, count(*) AS ops, min(start) AS first_ns, max(stop) AS last_ns
ORDER BY rank, process, thread, tid
