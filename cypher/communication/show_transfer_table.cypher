// The ranks' sends and recvs, with channel and partner, as parallel lists in one row, for keys from $first to
// before $after. An entry that closes a block of sends and recvs is one of them, without a kind.
// -1 and '' stand for null (a list holds none); what is true or false is 1 or 0; of several element types each
// ends with a comma, behind one comma.
// internal: export
// param run: text, the run
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column rank: list[int], global ranks
// column group: list[text], group keys
// column pg_name: list[text], group names as recorded
// column collective_kind: list[text], send or recv
// column op_name: list[text], the call's own word
// column src: list[int], global rank that sends, as the channel says
// column dst: list[int], global rank that receives, as the channel says
// column peer: list[int], other side, as its place in the group
// column peer_rank: list[int], other side as a global rank
// column tag: list[int], tags
// column record_id: list[int], number of the Flight Recorder entry
// column p2p_seq_id: list[int], number of the send or recv within the group on its rank
// column op_id: list[int], number of the call within the group on its rank
// column dtype: list[text], element types
// column in_msg_nelems: list[int], input elements of the rank
// column out_msg_nelems: list[int], output elements of the rank
// column size_bytes: list[int], input bytes of the rank
// column in_sizes: list[text], shapes of the inputs as JSON
// column out_sizes: list[text], shapes of the outputs as JSON
// column in_dtypes: list[text], element types of the inputs
// column out_dtypes: list[text], element types of the outputs
// column state: list[text], as recorded: scheduled, started or completed
// column retired: list[int], whether the recorder gave the call up as ended
// column start_ns: list[int], start since the run's origin
// column duration_ns: list[int], from start to end
// column started_ns: list[int], when the device began it (UTC)
// column completed_ns: list[int], when the device ended it (UTC)
// column site: list[text], file:line of the user's code
// column source: list[text], file kind the call was read from
// column peer_uid: list[int], keys of the recv of a send, of the send of a recv
// column peer_record_id: list[int], number of that call's Flight Recorder entry
// column peer_rule: list[text], what pairs it with that call
// column verdict: list[text], verdict of the channel
// column how: list[text], anchor that settled the channel
MATCH (c:CollectiveCall)
WHERE c.run = $run AND c.uid >= $first AND c.uid < $after
  AND (coalesce(c.is_p2p, false) OR coalesce(c.collective_kind, '') IN ['send', 'recv'])
OPTIONAL MATCH (c)-[:CALL_OF]->(way:Channel)
OPTIONAL MATCH (c)-[pair:PEER]-(other:CollectiveCall)
RETURN collect(c.uid) AS uid, collect(c.rank) AS rank, collect(coalesce(c.group, '')) AS group,
  collect(coalesce(c.pg_name, '')) AS pg_name, collect(coalesce(c.collective_kind, '')) AS collective_kind,
  collect(coalesce(c.op_name, '')) AS op_name, collect(coalesce(way.src, -1)) AS src,
  collect(coalesce(way.dst, -1)) AS dst, collect(coalesce(c.peer, -1)) AS peer,
  collect(coalesce(c.peer_rank, -1)) AS peer_rank, collect(coalesce(c.tag, -1)) AS tag,
  collect(coalesce(c.record_id, -1)) AS record_id,
  collect(coalesce(c.p2p_seq_id, -1)) AS p2p_seq_id, collect(coalesce(c.op_id, -1)) AS op_id,
  collect(coalesce(c.dtype, '')) AS dtype, collect(coalesce(c.in_msg_nelems, -1)) AS in_msg_nelems,
  collect(coalesce(c.out_msg_nelems, -1)) AS out_msg_nelems, collect(coalesce(c.size_bytes, -1)) AS size_bytes,
  collect(coalesce(c.in_sizes, '')) AS in_sizes, collect(coalesce(c.out_sizes, '')) AS out_sizes,
  collect(CASE WHEN c.in_dtypes IS NULL THEN '' ELSE reduce(t = ',', d IN c.in_dtypes | t + d + ',') END)
    AS in_dtypes,
  collect(CASE WHEN c.out_dtypes IS NULL THEN '' ELSE reduce(t = ',', d IN c.out_dtypes | t + d + ',') END)
    AS out_dtypes,
  collect(coalesce(c.state, '')) AS state,
  collect(CASE WHEN c.retired IS NULL THEN -1 WHEN c.retired THEN 1 ELSE 0 END) AS retired,
  collect(coalesce(c.start_ns, -1)) AS start_ns, collect(coalesce(c.duration_ns, -1)) AS duration_ns,
  collect(coalesce(c.started_ns, -1)) AS started_ns, collect(coalesce(c.completed_ns, -1)) AS completed_ns,
  collect(coalesce(c.site, '')) AS site, collect(coalesce(c.source, '')) AS source,
  collect(coalesce(other.uid, -1)) AS peer_uid,
  collect(coalesce(other.record_id, -1)) AS peer_record_id, collect(coalesce(pair.rule, '')) AS peer_rule,
  collect(coalesce(way.verdict, '')) AS verdict, collect(coalesce(way.how, '')) AS how
