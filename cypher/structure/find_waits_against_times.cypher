// Ranks with waits that the rules name and the times contradict (what was waited for ended after what waited
// began): no edge is made of them, and what they stood for is not known.
// check: waits_against_times   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column subject: int, uid of the rank
// column waits: int, how many
// column by_rule: text, these by rule, as JSON
MATCH (r:Rank)
WHERE r.run = $run AND r.waits_against_times > 0
RETURN r.rank AS rank, r.uid AS subject, r.waits_against_times AS waits, r.waits_against_times_by_rule AS by_rule
ORDER BY rank, subject
