// Collectives per group and verdict.
// param run: text, the run asked
// column group: text, group key: name and members
// column verdict: text, MATCHED, INCOMPLETE, PROGRESS_DIFF …
// column collectives: int, how many
// column in_flight: int, of these, with all members in and ended by none
// column first_seq: int, lowest number in the group
// column last_seq: int, highest number in the group
MATCH (c:Collective)
WHERE c.run = $run
RETURN c.group AS group, c.verdict AS verdict, count(*) AS collectives,
       sum(CASE WHEN c.in_flight = true THEN 1 ELSE 0 END) AS in_flight,
       min(c.collective_seq_id) AS first_seq, max(c.collective_seq_id) AS last_seq
ORDER BY group, verdict
