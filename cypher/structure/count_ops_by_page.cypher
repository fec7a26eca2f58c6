// How many ops of each kind a rank has in each page of keys.
// An export reads the columns of a rank page by page, which bounds what it and a server hold at once. Keys made by
// repairs lie far from those of the trace, so most pages between the lowest and the highest key are empty.
// internal: export, repairs
// param run: text, the run
// param page_keys: int, keys a page spans
// column rank: int, global rank
// column kind: text, kind of op
// column page: int, number of the page: its first key divided by page_keys
// column nodes: int, ops of that kind in it
MATCH (n:Op) WHERE n.run = $run
RETURN n.rank AS rank, n.kind AS kind, n.uid / $page_keys AS page, count(*) AS nodes ORDER BY rank, kind, page
