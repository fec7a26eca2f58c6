// What matching the ranks says of the run as a whole: whether it is healthy, and what would decide it.
// param run: text, the run asked
// column matched_from: text, whose calls were matched: flight_recorder or traces; null where none were
// column healthy: bool, true: every call is settled, false: a problem is proven, null: undecided
// column matching: json, notes, versions, what would decide it
MATCH (r:Run)
WHERE r.run = $run
RETURN r.matched_from AS matched_from, r.healthy AS healthy, r.matching AS matching
ORDER BY r.uid
