// Components of the recorded call tree whose top names no parent and is not the process root: nothing in the
// file says where they belong (a parent recorded as 0 means unknown).
// check: unreachable_component   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column components: int, how many
// column hidden_ops: int, recorded ops in them
// column hidden_calls: int, communication calls among them
// column subjects: list[int], uids of the first 100 tops
MATCH (n:HostOp)
WHERE n.run = $run AND n.node_id IS NOT NULL AND n.root IS NOT NULL
WITH n.root AS root, count(*) AS ops, sum(CASE WHEN n.comm_kind IS NULL THEN 0 ELSE 1 END) AS calls
MATCH (top:Op {uid: root})
WHERE top.parent_id IS NULL AND NOT top.name CONTAINS '|process]' AND NOT EXISTS { (top)<-[:CTRL]-() }
WITH top, ops, calls ORDER BY top.uid
WITH top.rank AS rank, count(*) AS components, sum(ops) AS hidden_ops, sum(calls) AS hidden_calls,
     collect(top.uid) AS uids
RETURN rank, components, hidden_ops, hidden_calls, uids[0..100] AS subjects
ORDER BY rank
