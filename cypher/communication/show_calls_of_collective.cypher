// The calls of one collective, a row for each rank: what it gave, how far it came, and how long it waited.
// param run: text, the run asked
// param group: text, group key: name and members
// param collective_seq_id: int, number within the group
// column rank: int, member
// column op_name: text, the call's own word
// column state: text, as recorded: scheduled, started or completed
// column retired: bool, whether the recorder gave the call up as ended, well or not
// column start_ns: int, start
// column duration_ns: int, duration
// column wait_ns: int, from its start to that of the last member, clock offsets taken off
// column size_bytes: int, input bytes
// column in_sizes: json, shapes of the inputs
// column out_sizes: json, shapes of the outputs
// column in_dtypes: list[text], element types of the inputs
// column site: text, file:line that made the call; null without frames
// column source: text, file kind the call was read from
// column rule: text, what says that it is part of this collective
// column uid: int, the call
MATCH (c:Collective)<-[part:CALL_OF]-(comm:CollectiveCall)
WHERE c.run = $run AND c.group = $group AND c.collective_seq_id = $collective_seq_id
RETURN comm.rank AS rank, comm.op_name AS op_name, comm.state AS state, comm.retired AS retired,
       comm.start_ns AS start_ns, comm.duration_ns AS duration_ns, comm.wait_ns AS wait_ns,
       comm.size_bytes AS size_bytes, comm.in_sizes AS in_sizes, comm.out_sizes AS out_sizes,
       comm.in_dtypes AS in_dtypes, comm.site AS site, comm.source AS source, part.rule AS rule, comm.uid AS uid
ORDER BY rank, uid, c.uid
