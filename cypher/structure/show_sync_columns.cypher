// The SYNC edges that leave a rank's ops with keys from $first to before $after, with what says so, as parallel
// columns in one row.
// internal: export, repairs
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column source: list[int], uids of what is waited for
// column target: list[int], uids of what waits
// column rule: list[text], what says so; '' for null
MATCH (a:Op)-[e:SYNC]->(b:Op)
WHERE a.run = $run AND a.rank = $rank AND a.uid >= $first AND a.uid < $after
RETURN collect(a.uid) AS source, collect(b.uid) AS target, collect(coalesce(e.rule, '')) AS rule
