// What matching the ranks cannot decide: ranks that may be at fault, and calls that may be only in flight.
// check: communication_undecided   severity: note   engines: kglite, neo4j
// param run: text, the run asked
// column uid: int, the cause
// column rule: text, what it is: never_called, behind, desync …
// column message: text, who, what, where, who suffers
// column confidence: text, high, medium, low or null
// column ranks: list[int], ranks it is about
// column blamed: list[int], ranks at fault
// column undecided: list[int], ranks among whom the fault is, when it cannot be told whose
// column group: text, group key of the call it is about; null for none
// column collective_seq_id: int, number of that call
// column site: text, file:line of that call
// column basis: text, what the blame rests on
// column evidence: json, what it rests on
// column found_ranks: list[int], those of these ranks that have a node
// column rank_uids: list[int], their nodes, in the same order
// column collective_uid: int, the collective it is about; null for none
MATCH (cause:Cause)
WHERE cause.run = $run AND cause.proven = false
OPTIONAL MATCH (c:Collective)
WHERE c.run = $run AND c.group = cause.group AND c.collective_seq_id = cause.collective_seq_id
WITH cause, min(c.uid) AS collective_uid
OPTIONAL MATCH (r:Rank)
WHERE r.run = $run AND (r.rank IN cause.ranks OR r.rank IN cause.blamed OR r.rank IN cause.undecided)
WITH cause, collective_uid, r ORDER BY r.rank, r.uid
WITH cause, collective_uid, collect(r.rank) AS found_ranks, collect(r.uid) AS rank_uids
RETURN cause.uid AS uid, cause.rule AS rule, cause.message AS message, cause.confidence AS confidence,
       cause.ranks AS ranks, cause.blamed AS blamed, cause.undecided AS undecided, cause.group AS group,
       cause.collective_seq_id AS collective_seq_id, cause.site AS site, cause.basis AS basis,
       cause.evidence AS evidence, found_ranks, rank_uids, collective_uid
ORDER BY cause.place, uid, collective_uid
