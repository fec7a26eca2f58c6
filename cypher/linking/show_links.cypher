// How execution trace and Kineto trace of each rank were matched, and how the device ops were linked.
// param run: text, the run asked
// column rank: int, global rank
// column kineto: text, the Kineto file
// column execution_trace: text, the execution trace it was matched with
// column method: text, rf_id, name_order or none
// column candidates: int, ops that could have a Kineto event
// column matched: int, of these, matched
// column ids_meet: int, ids that meet
// column names_agree: int, of these, with equal names
// column enclosed: int, device ops whose launch lies inside a host op of its thread
// column by_time_disagrees: int, launches for which the latest op begun on any thread is another one
// column external_id_disagrees: int, device ops whose External id names another op
MATCH (f:TraceFile)
WHERE f.run = $run AND f.kind = 'kineto'
RETURN f.rank AS rank, f.name AS kineto, f.partner AS execution_trace, f.link_method AS method,
       f.link_candidates AS candidates, f.link_matched AS matched, f.link_ids_meet AS ids_meet,
       f.link_names_agree AS names_agree, f.launches_enclosed AS enclosed,
       f.time_link_disagrees AS by_time_disagrees, f.external_id_disagrees AS external_id_disagrees
ORDER BY rank, kineto, f.uid
