// Schema overview: edges between the ops of the run, by type and kinds of their ends.
// param run: text, the run asked
// column edge_type: text, relationship type
// column source: text, kind of the source
// column target: text, kind of the target
// column edges: int, how many
MATCH (a:Op)-[e:CTRL|LAUNCHES|DATA|SYNC|SEEN_AS]->(b:Op)
WHERE a.run = $run
RETURN type(e) AS edge_type, a.kind AS source, b.kind AS target, count(*) AS edges
ORDER BY edge_type, source, target
