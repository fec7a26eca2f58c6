// The communication calls of one rank in order of time (of the trace where there is no time).
// param run: text, the run asked
// param rank: int, global rank
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
WHERE comm.run = $run AND comm.rank = $rank
RETURN comm.uid AS uid, comm.node_id AS node_id, comm.collective_kind AS collective_kind, comm.group AS group,
       comm.collective_seq_id AS collective_seq_id, comm.dtype AS dtype, comm.size_bytes AS size_bytes,
       comm.start_ns AS start_ns, comm.duration_ns AS duration_ns
ORDER BY start_ns, uid
