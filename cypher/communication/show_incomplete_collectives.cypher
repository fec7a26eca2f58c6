// Collectives that are not settled: members lack, differ, or have not ended it; who, by what their files prove.
// A collective that all made alike comes only while nobody has ended it; evicted ones do not come.
// param run: text, the run asked
// column group: text, group key: name and members
// column collective_seq_id: int, number within the group
// column name: text, kind and number, e.g. all_reduce #6
// column collective_kind: text, kind that most members called; null where it is not known
// column verdict: text, INCOMPLETE, PROGRESS_DIFF, NO_DUMP …
// column in_flight: bool, whether all members are in it and none has ended it
// column unfinished: text, members that have the call and have not ended it, e.g. 0-2
// column classes: json, members by what their files prove: {class: ranks}
// column uid: int, the collective
MATCH (c:Collective)
WHERE c.run = $run AND (NOT c.verdict IN ['MATCHED', 'EVICTED'] OR c.in_flight = true)
RETURN c.group AS group, c.collective_seq_id AS collective_seq_id, c.name AS name,
       c.collective_kind AS collective_kind, c.verdict AS verdict, c.in_flight AS in_flight,
       c.unfinished AS unfinished, c.classes AS classes, c.uid AS uid
ORDER BY group, collective_seq_id, uid
