// The clock of each rank against that of the lowest rank, estimated by the ends of collectives, which end together.
// param run: text, the run asked
// column rank: int, global rank
// column host: text, host name as recorded
// column clock_offset_ns: int, its clock less that of the lowest rank: 0 where ends come in either order, or null
// column clock_offset_calls: int, collectives that the offset rests on
// column clock_offset_spread_ns: int, largest less smallest difference among these
MATCH (r:Rank)
WHERE r.run = $run
RETURN r.rank AS rank, r.host AS host, r.clock_offset_ns AS clock_offset_ns,
       r.clock_offset_calls AS clock_offset_calls, r.clock_offset_spread_ns AS clock_offset_spread_ns
ORDER BY rank, r.uid
