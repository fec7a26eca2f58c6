// How long the host ops of each CPU thread ran: own time adds up to the time in which any op ran.
// param run: text, the run asked
// param rank: int = null, one rank alone
// column rank: int, global rank
// column process: int, process id
// column thread: int, thread id as in Kineto; null where only an execution trace is there
// column ops: int, host ops
// column self_ns: int, own time of all of them, annotations left out
// column annotated_ns: int, own time of annotations: between the operators inside them
// column first_ns: int, start of the first
// column last_ns: int, end of the last
MATCH (n:HostOp)
WHERE n.run = $run AND n.start_ns IS NOT NULL AND ($rank IS NULL OR n.rank = $rank)
WITH n, CASE WHEN n.category = 'user_annotation' THEN 1 ELSE 0 END AS annotates
RETURN n.rank AS rank, n.process AS process, n.thread AS thread, count(*) AS ops,
       sum((1 - annotates) * n.self_ns) AS self_ns, sum(annotates * n.self_ns) AS annotated_ns,
       min(n.start_ns) AS first_ns, max(n.start_ns + n.duration_ns) AS last_ns
ORDER BY rank, process, thread
