// Per group: how many of its collectives and channels are settled, prove a problem, or cannot be decided.
// param run: text, the run asked
// column group: text, group key: name and members
// column collectives: int, collectives that any rank kept
// column channels: int, directed edges of sends between two ranks
// column settled: int, of both, MATCHED, SOLVED, PROGRESS_DIFF or EVICTED
// column faulty: int, of both, with members that differ or are proven not to have come
// column undecided: int, of both, the rest: what would tell is not in the files
// column in_flight: int, of both, with all members in and ended by none
MATCH (x:Collective|Channel)
WHERE x.run = $run
WITH x.group AS group, x.collective_seq_id AS seq, x.in_flight AS in_flight,
     x.verdict IN ['MATCHED', 'SOLVED', 'PROGRESS_DIFF', 'EVICTED'] AS is_settled,
     x.verdict IN ['TYPE_MISMATCH', 'DTYPE_MISMATCH', 'SIZE_MISMATCH', 'INCOMPLETE'] AS is_faulty
RETURN group, sum(CASE WHEN seq IS NULL THEN 0 ELSE 1 END) AS collectives,
       sum(CASE WHEN seq IS NULL THEN 1 ELSE 0 END) AS channels,
       sum(CASE WHEN is_settled THEN 1 ELSE 0 END) AS settled,
       sum(CASE WHEN is_faulty THEN 1 ELSE 0 END) AS faulty,
       sum(CASE WHEN is_settled OR is_faulty THEN 0 ELSE 1 END) AS undecided,
       sum(CASE WHEN in_flight = true THEN 1 ELSE 0 END) AS in_flight
ORDER BY group
