// Where the time of each rank's devices went, from the first device op to the end of the last, all streams together:
// computing, only communicating, only moving memory, idle. (HTA: temporal breakdown.)
// param run: text, the run asked
// column rank: int, global rank
// column span_ns: int, from first start to last end: computing + other + idle
// column computing_ns: int, a device op that computes ran
// column other_ns: int, none that computes ran, but a copy, a set or NCCL did
// column idle_ns: int, nothing ran
// column computing_percent: int, computing of the span, rounded down
// column idle_percent: int, idle of the span, rounded down
MATCH (r:Rank)
WHERE r.run = $run AND r.device_span_ns > 0
WITH r, r.device_span_ns - r.device_busy_ns AS idle_ns
RETURN r.rank AS rank, r.device_span_ns AS span_ns, r.computing_ns AS computing_ns,
       r.device_busy_ns - r.computing_ns AS other_ns, idle_ns,
       100 * r.computing_ns / r.device_span_ns AS computing_percent, 100 * idle_ns / r.device_span_ns AS idle_percent
ORDER BY rank, r.uid
