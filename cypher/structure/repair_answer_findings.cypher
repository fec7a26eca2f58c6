// Tie repairs to the findings they answer.
// param rows: rows, {rid, fid}
// writes: MADE
// column answers: int, pairs tied
UNWIND $rows AS row
MATCH (r:Repair {rid: row.rid}), (f:Finding {fid: row.fid})
WHERE r.run = $run
MERGE (r)-[:MADE]->(f)
RETURN count(*) AS answers
