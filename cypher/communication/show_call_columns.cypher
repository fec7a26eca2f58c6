// The communication calls of a rank as parallel lists in one row. -1 and '' stand for null (a list holds none).
// internal: export
// param run: text, the run
// param rank: int, global rank
// column uid: list[int], keys
// column collective_kind: list[text], kinds
// column op_name: list[text], the call's own word
// column group: list[text], group keys
// column pg_name: list[text], group names as recorded
// column dtype: list[text], element types
// column size_bytes: list[int], input bytes of this rank
// column in_msg_nelems: list[int], input elements of this rank
// column out_msg_nelems: list[int], output elements of this rank
// column peer: list[int], other side of a send or recv, as its place in the group
// column peer_rank: list[int], other side of a send or recv as a global rank
// column tag: list[int], tag of a send or recv
// column root_rank: list[int], root of a rooted collective, as its place in the group
// column collective_seq_id: list[int], number within the group
// column source: list[text], file kind the call was read from
// column duration_ns: list[int], from start to end
// column wait_ns: list[int], from this rank's start to that of the last member
MATCH (c:CollectiveCall) WHERE c.run = $run AND c.rank = $rank
RETURN collect(c.uid) AS uid, collect(coalesce(c.collective_kind, '')) AS collective_kind,
  collect(coalesce(c.op_name, '')) AS op_name, collect(coalesce(c.group, '')) AS group,
  collect(coalesce(c.pg_name, '')) AS pg_name, collect(coalesce(c.dtype, '')) AS dtype,
  collect(coalesce(c.size_bytes, -1)) AS size_bytes, collect(coalesce(c.in_msg_nelems, -1)) AS in_msg_nelems,
  collect(coalesce(c.out_msg_nelems, -1)) AS out_msg_nelems, collect(coalesce(c.peer, -1)) AS peer,
  collect(coalesce(c.peer_rank, -1)) AS peer_rank, collect(coalesce(c.tag, -1)) AS tag,
  collect(coalesce(c.root_rank, -1)) AS root_rank,
  collect(coalesce(c.collective_seq_id, -1)) AS collective_seq_id, collect(coalesce(c.source, '')) AS source,
  collect(coalesce(c.duration_ns, -1)) AS duration_ns, collect(coalesce(c.wait_ns, -1)) AS wait_ns
