// The CPU threads of the run with their names.
// internal: export
// param run: text, the run asked
// column rank: int, global rank
// column process: int, process id; null without a Kineto file
// column thread: int, thread id; null without a Kineto file
// column tid: int, thread number of the execution trace; null with a Kineto file
// column name: text, as recorded, else thread N
MATCH (t:Thread)
WHERE t.run = $run
RETURN t.rank AS rank, t.process AS process, t.thread AS thread, t.tid AS tid, t.name AS name
ORDER BY rank, process, thread, tid, t.uid
