// The ranks' calls of collectives, and what matching them says, as parallel lists in one row, for keys from
// $first to before $after. Sends and recvs: show_transfer_table.
// -1 and '' stand for null (a list holds none); what is true or false is 1 or 0; of several element types each
// ends with a comma, behind one comma.
// internal: export
// param run: text, the run
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column rank: list[int], global ranks
// column collective: list[int], keys of the collectives they are part of
// column group: list[text], group keys
// column pg_name: list[text], group names as recorded
// column collective_seq_id: list[int], number within the group, the same on all ranks
// column collective_kind: list[text], kinds
// column op_name: list[text], the call's own word
// column dtype: list[text], element types
// column in_msg_nelems: list[int], input elements of the rank
// column out_msg_nelems: list[int], output elements of the rank
// column size_bytes: list[int], input bytes of the rank
// column in_sizes: list[text], shapes of the inputs as JSON
// column out_sizes: list[text], shapes of the outputs as JSON
// column in_dtypes: list[text], element types of the inputs
// column out_dtypes: list[text], element types of the outputs
// column root_rank: list[int], root of a rooted collective, as its place in the group
// column state: list[text], as recorded: scheduled, started or completed
// column retired: list[int], whether the recorder gave the call up as ended
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column started_ns: list[int], when the device began it (UTC)
// column completed_ns: list[int], when the device ended it (UTC)
// column site: list[text], file:line of the user's code
// column record_id: list[int], number of the Flight Recorder entry
// column op_id: list[int], number of the call within the group on its rank
// column source: list[text], file kind the call was read from
// column wait_ns: list[int], from the rank's start to that of the last member
// column verdict: list[text], verdict of the collective
MATCH (c:CollectiveCall)
WHERE c.run = $run AND c.uid >= $first AND c.uid < $after
  AND NOT (coalesce(c.is_p2p, false) OR coalesce(c.collective_kind, '') IN ['send', 'recv'])
OPTIONAL MATCH (c)-[:CALL_OF]->(whole:Collective)
RETURN collect(c.uid) AS uid, collect(c.rank) AS rank, collect(coalesce(whole.uid, -1)) AS collective,
  collect(coalesce(c.group, '')) AS group, collect(coalesce(c.pg_name, '')) AS pg_name,
  collect(coalesce(whole.collective_seq_id, c.collective_seq_id, -1)) AS collective_seq_id,
  collect(coalesce(c.collective_kind, '')) AS collective_kind, collect(coalesce(c.op_name, '')) AS op_name,
  collect(coalesce(c.dtype, '')) AS dtype, collect(coalesce(c.in_msg_nelems, -1)) AS in_msg_nelems,
  collect(coalesce(c.out_msg_nelems, -1)) AS out_msg_nelems, collect(coalesce(c.size_bytes, -1)) AS size_bytes,
  collect(coalesce(c.in_sizes, '')) AS in_sizes, collect(coalesce(c.out_sizes, '')) AS out_sizes,
  collect(CASE WHEN c.in_dtypes IS NULL THEN '' ELSE reduce(t = ',', d IN c.in_dtypes | t + d + ',') END)
    AS in_dtypes,
  collect(CASE WHEN c.out_dtypes IS NULL THEN '' ELSE reduce(t = ',', d IN c.out_dtypes | t + d + ',') END)
    AS out_dtypes,
  collect(coalesce(c.root_rank, -1)) AS root_rank, collect(coalesce(c.state, '')) AS state,
  collect(CASE WHEN c.retired IS NULL THEN -1 WHEN c.retired THEN 1 ELSE 0 END) AS retired,
  collect(coalesce(c.start_ns, -1)) AS start_ns, collect(coalesce(c.duration_ns, -1)) AS duration_ns,
  collect(coalesce(c.started_ns, -1)) AS started_ns, collect(coalesce(c.completed_ns, -1)) AS completed_ns,
  collect(coalesce(c.site, '')) AS site, collect(coalesce(c.record_id, -1)) AS record_id,
  collect(coalesce(c.op_id, -1)) AS op_id, collect(coalesce(c.source, '')) AS source,
  collect(coalesce(c.wait_ns, -1)) AS wait_ns, collect(coalesce(whole.verdict, '')) AS verdict
