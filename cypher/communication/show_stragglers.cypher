// Who comes last: in how many collectives, out of how many it took part in, and what that cost the others.
// The cost is the sum of the others' waits, each as show_wait_and_transfer splits it.
// param run: text, the run asked
// param group: text = null, only this group, by its key: name and members
// column group: text, group key: name and members
// column rank: int, the member that came last
// column last_in: int, collectives that it came last to
// column timed_collectives: int, collectives of the group whose last member is known
// column others_wait_ns: int, sum of the waits of the other members in those it came last to
// column longest_skew_ns: int, longest from the first start to its own among these
MATCH (whole:Collective)
WHERE whole.run = $run AND whole.last_rank IS NOT NULL AND ($group IS NULL OR whole.group = $group)
WITH whole.group AS key, count(*) AS timed
MATCH (one:Collective {run: $run, group: key})
WHERE one.last_rank IS NOT NULL
OPTIONAL MATCH (one)<-[:CALL_OF]-(c:CollectiveCall)
WHERE c.wait_ns IS NOT NULL AND c.duration_ns IS NOT NULL
WITH key, timed, one.uid AS uid, one.last_rank AS last, one.skew_ns AS skew,
     sum(CASE WHEN c.wait_ns > c.duration_ns THEN c.duration_ns ELSE c.wait_ns END) AS waits
RETURN key AS group, last AS rank, count(*) AS last_in, timed AS timed_collectives, sum(waits) AS others_wait_ns,
       max(skew) AS longest_skew_ns
ORDER BY others_wait_ns DESC, group, rank, timed_collectives
