// The communication calls of each rank in order of time (of the trace where there is no time).
// param run: text, the run asked
// param rank: int = null, only this global rank
// param group: text = null, only this group, by its key: name and members
// param kind: text = null, only this kind: all_reduce, send …
// column rank: int, global rank
// column uid: int, the call
// column node_id: int, id of its host op in the trace
// column collective_kind: text, all_reduce, send …
// column group: text, group key; null when the files do not say
// column collective_seq_id: int, number in the group
// column dtype: text, element type
// column size_bytes: int, input bytes
// column start_ns: int, start
// column duration_ns: int, duration
MATCH (comm:CollectiveCall)
WHERE comm.run = $run AND ($rank IS NULL OR comm.rank = $rank) AND ($group IS NULL OR comm.group = $group)
  AND ($kind IS NULL OR comm.collective_kind = $kind)
RETURN comm.rank AS rank, comm.uid AS uid, comm.node_id AS node_id, comm.collective_kind AS collective_kind, comm.group AS group,
       comm.collective_seq_id AS collective_seq_id, comm.dtype AS dtype, comm.size_bytes AS size_bytes,
       comm.start_ns AS start_ns, comm.duration_ns AS duration_ns
ORDER BY rank, start_ns, uid
