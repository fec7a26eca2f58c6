// The sync events of a rank as spans of a timeline, as parallel lists in one row, for keys from $first to before
// $after. -1 and '' stand for null (a list holds none); an event has times where duration_ns is not -1.
// internal: export
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column name: list[text], names
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column device: list[int], device number
// column stream: list[int], stream waited for or waiting; -1 = the whole context, too
// column correlation: list[int], correlation of the synchronising call
// column sync_kind: list[text], Stream Wait Event, Context Sync, Event Sync or Stream Sync
// column wait_on_stream: list[int], stream that is waited for
// column wait_on_event_id: list[int], CUDA event that is waited for
// column wait_on_record_correlation: list[int], correlation of the call that recorded that event
MATCH (s:SyncEvent) WHERE s.run = $run AND s.rank = $rank AND s.uid >= $first AND s.uid < $after
RETURN collect(s.uid) AS uid, collect(s.name) AS name, collect(coalesce(s.start_ns, -1)) AS start_ns,
  collect(coalesce(s.duration_ns, -1)) AS duration_ns, collect(coalesce(s.device, -1)) AS device,
  collect(coalesce(s.stream, -1)) AS stream, collect(coalesce(s.correlation, -1)) AS correlation,
  collect(coalesce(s.sync_kind, '')) AS sync_kind, collect(coalesce(s.wait_on_stream, -1)) AS wait_on_stream,
  collect(coalesce(s.wait_on_event_id, -1)) AS wait_on_event_id,
  collect(coalesce(s.wait_on_record_correlation, -1)) AS wait_on_record_correlation
