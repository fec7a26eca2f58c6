// How many collectives lie in each page of keys: an export reads them page by page.
// internal: export
// param run: text, the run
// param page_keys: int, keys a page spans
// column page: int, number of the page: its first key divided by page_keys
// column nodes: int, collectives in it
MATCH (c:Collective) WHERE c.run = $run
RETURN c.uid / $page_keys AS page, count(*) AS nodes ORDER BY page
