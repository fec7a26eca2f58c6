// Components of the call tree as recorded: top, size, communication calls inside, and why each stands alone.
// Counted over ops of the execution trace (in a merged trace with its device ops); a span known to Kineto only
// belongs to no component.
// param run: text, the run asked
// column rank: int, global rank
// column root: int, uid of the top
// column name: text, name of the top
// column parent_id: int, the absent parent the top names; null when it names none
// column why: text, process root, absent parent or no parent
// column ops: int, recorded ops
// column calls: int, communication calls among them
MATCH (n:HostOp|Kernel)
WHERE n.run = $run AND n.node_id IS NOT NULL AND (n.kind = 'HostOp' OR NOT EXISTS { (n)<-[:CTRL]-() })
WITH coalesce(n.root, n.uid) AS root, count(*) + sum(COUNT { (n)-[:CTRL]->(:Kernel) }) AS ops,
     sum(CASE WHEN n.comm_kind IS NULL THEN 0 ELSE 1 END) AS calls
MATCH (top:Op {uid: root})
RETURN top.rank AS rank, root AS root, top.name AS name, top.parent_id AS parent_id,
       CASE WHEN top.parent_id IS NOT NULL THEN 'absent parent'
            WHEN top.name CONTAINS '|process]' THEN 'process root' ELSE 'no parent' END AS why,
       ops, calls
ORDER BY rank, ops DESC, root
