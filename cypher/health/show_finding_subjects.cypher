// The ops, files, ranks, collective or run a finding is about: the first 100 of them.
// param run: text, the run asked
// param fid: text, key of the finding
// column uid: int, the node
// column role: text, the part it plays
// column name: text, its name
// column rank: int, global rank; null for a collective and the run
// column kind: text, HostOp, Kernel … or the kind of a file; null for any other node
// column node_id: int, id in the trace
MATCH (f:Finding {fid: $fid})-[about:ABOUT]->(n:Op|TraceFile|Rank|Collective|Run)
WHERE f.run = $run
RETURN n.uid AS uid, about.role AS role, n.name AS name, n.rank AS rank, n.kind AS kind, n.node_id AS node_id
ORDER BY uid
