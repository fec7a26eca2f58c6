// Communication calls of the execution traces, and how many of them a walk along CTRL from the process root meets.
// internal: convert
// param run: text, the run asked
// column rank: int, global rank
// column calls: int, host ops that are a communication call
// column reached: int, those whose topmost caller is the process root
MATCH (n:HostOp)
WHERE n.run = $run AND n.comm_kind IS NOT NULL AND n.node_id IS NOT NULL AND n.root IS NOT NULL
WITH n.rank AS rank, n.root AS root, count(*) AS calls
MATCH (top:Op {uid: root})
RETURN rank, sum(calls) AS calls, sum(CASE WHEN top.name CONTAINS '|process]' THEN calls ELSE 0 END) AS reached
ORDER BY rank
