// Collectives on which the members called different things, with the call of each member.
// param run: text, the run asked
// column group: text, group key: name and members
// column collective_seq_id: int, number within the group
// column verdict: text, TYPE_MISMATCH, DTYPE_MISMATCH or SIZE_MISMATCH
// column rank: int, member
// column op_name: text, the call's own word
// column in_sizes: json, shapes of the inputs
// column out_sizes: json, shapes of the outputs
// column in_dtypes: list[text], element types of the inputs
// column out_dtypes: list[text], element types of the outputs
// column in_msg_nelems: int, input elements; null where the file gives shapes
// column out_msg_nelems: int, output elements; null where the file gives shapes
// column dtype: text, element type where there is one for the call
// column site: text, file:line that made the call; null without frames
// column uid: int, the call
MATCH (c:Collective)<-[:CALL_OF]-(comm:CollectiveCall)
WHERE c.run = $run AND c.verdict IN ['TYPE_MISMATCH', 'DTYPE_MISMATCH', 'SIZE_MISMATCH']
RETURN c.group AS group, c.collective_seq_id AS collective_seq_id, c.verdict AS verdict, comm.rank AS rank,
       comm.op_name AS op_name, comm.in_sizes AS in_sizes, comm.out_sizes AS out_sizes,
       comm.in_dtypes AS in_dtypes, comm.out_dtypes AS out_dtypes, comm.in_msg_nelems AS in_msg_nelems,
       comm.out_msg_nelems AS out_msg_nelems, comm.dtype AS dtype, comm.site AS site, comm.uid AS uid
ORDER BY group, collective_seq_id, rank, uid, c.uid
