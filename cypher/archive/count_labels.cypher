// Schema overview: nodes of the run by label.
// param run: text, the run asked
// column label: text, the label
// column nodes: int, how many
MATCH (n:Op)
WHERE n.run = $run
RETURN n.kind AS label, count(*) AS nodes
ORDER BY label
