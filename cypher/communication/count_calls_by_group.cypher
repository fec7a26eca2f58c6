// Communication calls per group, rank and kind. The group is null where no file says it.
// param run: text, the run asked
// column group: text, group key
// column rank: int, global rank
// column collective_kind: text, all_reduce, send …
// column calls: int, how many
// column size_bytes: int, sum of their input bytes
// column first_seq: int, lowest number in the group
// column last_seq: int, highest number in the group
MATCH (comm:CollectiveCall)
WHERE comm.run = $run
RETURN comm.group AS group, comm.rank AS rank, comm.collective_kind AS collective_kind, count(*) AS calls,
       sum(comm.size_bytes) AS size_bytes, min(comm.collective_seq_id) AS first_seq,
       max(comm.collective_seq_id) AS last_seq
ORDER BY group, rank, collective_kind
