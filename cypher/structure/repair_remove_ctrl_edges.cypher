// Remove CTRL edges by their ends. What is removed stands in the Repair, so that undo can make it again.
// param rows: rows, {src, dst} with uids
// writes: CTRL
// column edges: int, edges removed
UNWIND $rows AS row
MATCH (b:Op {uid: row.dst})<-[e:CTRL]-(a:Op {uid: row.src})
WHERE a.run = $run
DELETE e
RETURN count(*) AS edges
