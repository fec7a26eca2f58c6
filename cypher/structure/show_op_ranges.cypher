// How many ops of each kind a rank has, and between which keys they lie.
// An export reads the columns of a rank in pages of such keys.
// param run: text, the run
// column rank: int, global rank
// column kind: text, kind of op
// column nodes: int, ops of that kind
// column first_uid: int, lowest key
// column last_uid: int, highest key
MATCH (n:Op) WHERE n.run = $run
RETURN n.rank AS rank, n.kind AS kind, count(*) AS nodes, min(n.uid) AS first_uid, max(n.uid) AS last_uid
ORDER BY rank, kind
