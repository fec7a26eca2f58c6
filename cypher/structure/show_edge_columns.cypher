// The CTRL, LAUNCHES, DATA and SYNC edges that leave a rank's ops with keys from $first to before $after: one
// row a type, the ends as parallel lists of keys.
// internal: export, repairs
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column edge_type: text, type of the edges
// column source: list[int], keys of the ops they leave
// column target: list[int], keys of the ops they lead to
MATCH (a:Op)-[r:CTRL|LAUNCHES|DATA|SYNC]->(b:Op)
WHERE a.run = $run AND a.rank = $rank AND a.uid >= $first AND a.uid < $after
RETURN type(r) AS edge_type, collect(a.uid) AS source, collect(b.uid) AS target ORDER BY edge_type
