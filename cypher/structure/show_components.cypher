// Components of the call tree as recorded: top, size, communication calls inside, and why each stands alone.
// Counted over ops of the execution trace (in a merged trace with its device ops); a span known to Kineto only
// belongs to no component. Ops whose callers run in a circle have no top: each has a row of its own.
// param run: text, the run asked
// column rank: int, global rank
// column root: int, uid of the top
// column name: text, name of the top
// column parent_id: int, the absent parent the top names; null when it names none
// column why: text, process root, absent parent, no parent or in a circle
// column ops: int, recorded ops
// column calls: int, communication calls among them
MATCH (n:HostOp|Kernel)
WHERE n.run = $run AND n.node_id IS NOT NULL AND (n.kind = 'HostOp' OR NOT EXISTS { (n)<-[:CTRL]-() })
WITH coalesce(n.root, n.uid) AS root, count(*) AS ops, sum(CASE WHEN n.comm_kind IS NULL THEN 0 ELSE 1 END) AS calls
MATCH (top:Op {uid: root})
WITH top, root, ops + COUNT { (top)-[:CTRL*1..1000]->(:Kernel) } AS ops, calls
RETURN top.rank AS rank, root AS root, top.name AS name, top.parent_id AS parent_id,
       CASE WHEN EXISTS { (top)<-[:CTRL]-() } THEN 'in a circle'
            WHEN top.parent_id IS NOT NULL THEN 'absent parent'
            WHEN top.name CONTAINS '|process]' THEN 'process root' ELSE 'no parent' END AS why,
       ops, calls
ORDER BY rank, ops DESC, root
