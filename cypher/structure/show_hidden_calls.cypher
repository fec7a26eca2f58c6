// The communication calls that a walk from the process root does not see, with the absent parent above them.
// internal: findings
// param run: text, the run asked
// column rank: int, global rank
// column absent_id: int, the id that is named and absent
// column uid: int, the host op that is the call
// column node_id: int, its id in the trace
// column comm_kind: text, what is communicated: all_reduce, send …
// column group: text, its process group; null when the files do not say
// column kernel: int, uid of its first device op; null when there is none
// column kernel_correlation: int, correlation of that device op
MATCH (n:HostOp)
WHERE n.run = $run AND n.comm_kind IS NOT NULL AND n.root IS NOT NULL
MATCH (top:Op {uid: n.root})
WHERE top.parent_id IS NOT NULL AND NOT EXISTS { (top)<-[:CTRL]-() }
WITH n, top, [(n)<-[:SEEN_AS]-(comm:CollectiveCall) | comm.group] AS groups,
     [(n)<-[:SEEN_AS]-(:CollectiveCall)-[:SEEN_AS]->(k:Kernel) | k.uid] AS kernels
WITH n, top, head(groups) AS group,
     reduce(low = head(kernels), k IN kernels | CASE WHEN k < low THEN k ELSE low END) AS first_kernel
OPTIONAL MATCH (first:Op {uid: first_kernel})
RETURN n.rank AS rank, top.parent_id AS absent_id, n.uid AS uid, n.node_id AS node_id, n.comm_kind AS comm_kind,
       group, first_kernel AS kernel, first.correlation AS kernel_correlation
ORDER BY rank, absent_id, uid
