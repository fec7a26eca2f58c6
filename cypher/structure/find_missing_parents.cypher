// Ids that ops name as their parent and no record has: per id the children, and what a walk from the process
// root does not see because of it: recorded ops and the communication calls among them.
// A component of the tree is told by the stored root; only hidden trees are walked, for the device ops that a
// merged trace has in them.
// check: missing_parent   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column absent_id: int, the id that is named and absent
// column children: int, ops that name it
// column hidden_ops: int, recorded ops in the trees of these children
// column hidden_calls: int, communication calls among them
// column subjects: list[int], uids of the first 100 children
MATCH (n:HostOp|Kernel)
WHERE n.run = $run AND n.node_id IS NOT NULL
WITH coalesce(n.root, n.uid) AS root, count(*) AS ops, sum(CASE WHEN n.comm_kind IS NULL THEN 0 ELSE 1 END) AS calls
MATCH (top:Op {uid: root})
WHERE top.parent_id IS NOT NULL AND NOT EXISTS { (top)<-[:CTRL]-() }
WITH top, ops + COUNT { (top)-[:CTRL*1..1000]->(:Kernel) } AS ops, calls ORDER BY top.uid
WITH top.rank AS rank, top.parent_id AS absent_id, count(*) AS children,
     sum(ops) AS hidden_ops, sum(calls) AS hidden_calls, collect(top.uid) AS uids
RETURN rank, absent_id, children, hidden_ops, hidden_calls, uids[0..100] AS subjects
ORDER BY rank, absent_id
