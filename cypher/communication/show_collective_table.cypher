// The collectives of a run as parallel lists in one row, for keys from $first to before $after.
// -1 and '' stand for null (a list holds none); what is true or false is 1 or 0.
// internal: export
// param run: text, the run
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column group: list[text], group keys
// column pg_name: list[text], group names
// column collective_seq_id: list[int], number within the group, the same on all ranks
// column collective_kind: list[text], kinds
// column op_name: list[text], the call's own word
// column verdict: list[text], MATCHED, INCOMPLETE …
// column in_flight: list[int], whether all members are in it and none has ended it
// column site_differs: list[int], whether members called it from different lines
// column shape_differs: list[int], whether members gave it tensors of different shapes
// column classes: list[text], members by what their files prove, as JSON
// column unfinished: list[text], members that have the call and have not ended it
// column calls: list[int], members whose call is in the graph
// column skew_ns: list[int], from the first start to the last
// column transfer_ns: list[int], from the last start to the earliest end after it
// column last_rank: list[int], member that started it last
MATCH (c:Collective) WHERE c.run = $run AND c.uid >= $first AND c.uid < $after
RETURN collect(c.uid) AS uid, collect(coalesce(c.group, '')) AS group, collect(coalesce(c.pg_name, '')) AS pg_name,
  collect(coalesce(c.collective_seq_id, -1)) AS collective_seq_id,
  collect(coalesce(c.collective_kind, '')) AS collective_kind, collect(coalesce(c.op_name, '')) AS op_name,
  collect(coalesce(c.verdict, '')) AS verdict,
  collect(CASE WHEN c.in_flight IS NULL THEN -1 WHEN c.in_flight THEN 1 ELSE 0 END) AS in_flight,
  collect(CASE WHEN c.site_differs IS NULL THEN -1 WHEN c.site_differs THEN 1 ELSE 0 END) AS site_differs,
  collect(CASE WHEN c.shape_differs IS NULL THEN -1 WHEN c.shape_differs THEN 1 ELSE 0 END) AS shape_differs,
  collect(coalesce(c.classes, '')) AS classes, collect(coalesce(c.unfinished, '')) AS unfinished,
  collect(coalesce(c.calls, -1)) AS calls, collect(coalesce(c.skew_ns, -1)) AS skew_ns,
  collect(coalesce(c.transfer_ns, -1)) AS transfer_ns, collect(coalesce(c.last_rank, -1)) AS last_rank
