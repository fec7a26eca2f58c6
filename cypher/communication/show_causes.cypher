// What stopped or split the ranks, a line for each cause: those that are proven first.
// param run: text, the run asked
// column place: int, place among the causes, from 1
// column rule: text, never_called, behind, desync, size_mismatch, order_inversion, in_flight …
// column proven: bool, whether a problem is proven; false where it cannot be decided
// column confidence: text, high, medium, low or null
// column message: text, who, what, where, who suffers
// column blamed: list[int], ranks at fault
// column undecided: list[int], ranks among whom the fault is, when it cannot be told whose
// column ranks: list[int], ranks it is about
// column group: text, group key of the call it is about; null for none
// column collective_seq_id: int, number of that call
// column op_name: text, the call's own word
// column site: text, file:line of that call
// column basis: text, what the blame rests on
// column divergence: json, first call on which the ranks differ; null without
// column evidence: json, what it rests on
MATCH (c:Cause)
WHERE c.run = $run
RETURN c.place AS place, c.rule AS rule, c.proven AS proven, c.confidence AS confidence, c.message AS message,
       c.blamed AS blamed, c.undecided AS undecided, c.ranks AS ranks, c.group AS group,
       c.collective_seq_id AS collective_seq_id, c.op_name AS op_name, c.site AS site, c.basis AS basis,
       c.divergence AS divergence, c.evidence AS evidence
ORDER BY place, c.uid
