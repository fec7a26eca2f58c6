// The communication calls of a rank as spans of a timeline, and what each is part of, as parallel lists in one
// row. -1 and '' stand for null (a list holds none); a call has times where start_ns is not -1, and an end where
// duration_ns is not.
// internal: export
// param run: text, the run
// param rank: int, global rank
// column uid: list[int], keys
// column name: list[text], names
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column group: list[text], group keys
// column collective_kind: list[text], kinds
// column collective_seq_id: list[int], number within the group
// column state: list[text], as recorded: scheduled, started or completed
// column source: list[text], file kind the call was read from
// column collective: list[int], key of the collective it is part of
MATCH (c:CollectiveCall) WHERE c.run = $run AND c.rank = $rank
OPTIONAL MATCH (c)-[:CALL_OF]->(whole:Collective)
RETURN collect(c.uid) AS uid, collect(c.name) AS name, collect(coalesce(c.start_ns, -1)) AS start_ns,
  collect(coalesce(c.duration_ns, -1)) AS duration_ns, collect(coalesce(c.group, '')) AS group,
  collect(coalesce(c.collective_kind, '')) AS collective_kind,
  collect(coalesce(c.collective_seq_id, -1)) AS collective_seq_id, collect(coalesce(c.state, '')) AS state,
  collect(coalesce(c.source, '')) AS source, collect(coalesce(whole.uid, -1)) AS collective
