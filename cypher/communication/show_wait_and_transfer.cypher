// Each call of a collective, split: how long its rank waited there for the member that came last, and the rest.
// The wait is the part of the call's measured time before the last member came (clock offsets taken off), all of
// it where the call ended sooner; wait and transfer add up to the measured time on every rank. That time is its
// kernel's (of several kernels the first one's), or that of the backend's own op. A call whose wait is not known
// (no times, or no other member's) has no row, nor have the later ones of a rank's block of calls.
// param run: text, the run asked
// param rank: int = null, only this global rank
// param group: text = null, only this group, by its key: name and members
// column rank: int, global rank
// column group: text, group key: name and members
// column collective_kind: text, all_reduce, all_gather …
// column collective_seq_id: int, number within the group
// column collective: int, key of the collective
// column call: int, key of the call
// column name: text, kind and number of the collective, e.g. all_reduce #6
// column start_ns: int, start of the call since the run's origin, by its rank's clock
// column duration_ns: int, measured time of the call
// column wait_ns: int, the part of it before the last member came
// column transfer_ns: int, the rest of it
MATCH (c:CollectiveCall)-[:CALL_OF]->(whole:Collective)
WHERE c.run = $run AND c.wait_ns IS NOT NULL AND c.duration_ns IS NOT NULL
  AND ($rank IS NULL OR c.rank = $rank) AND ($group IS NULL OR whole.group = $group)
WITH c, whole, CASE WHEN c.wait_ns > c.duration_ns THEN c.duration_ns ELSE c.wait_ns END AS waited
RETURN c.rank AS rank, whole.group AS group, whole.collective_kind AS collective_kind,
       whole.collective_seq_id AS collective_seq_id, whole.uid AS collective, c.uid AS `call`, whole.name AS name,
       c.start_ns AS start_ns, c.duration_ns AS duration_ns, waited AS wait_ns,
       c.duration_ns - waited AS transfer_ns
ORDER BY rank, start_ns, c.uid, collective
