// The CTRL, LAUNCHES, DATA and SYNC edges that leave some ops.
// internal: export
// param run: text, the run asked
// param uids: list[int], the ops
// column source: int, the op it leaves
// column target: int, the op it leads to
// column edge_type: text, its type
UNWIND $uids AS wanted
MATCH (a:Op {uid: wanted})-[e:CTRL|LAUNCHES|DATA|SYNC]->(b:Op)
WHERE a.run = $run
RETURN a.uid AS source, b.uid AS target, type(e) AS edge_type
ORDER BY source, target, edge_type
