// The sends of a rank with the recvs that take them, as parallel lists in one row.
// internal: export
// param run: text, the run
// param rank: int, global rank
// column source: list[int], keys of the sends
// column target: list[int], keys of the recvs
MATCH (s:Op)-[:PEER]->(r:Op) WHERE s.run = $run AND s.rank = $rank
RETURN collect(s.uid) AS source, collect(r.uid) AS target
