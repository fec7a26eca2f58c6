// How much of each rank's communication on the device its computation hid. (HTA: communication computation overlap;
// without device ops: communication/show_exposed_communication.)
// param run: text, the run asked
// column rank: int, global rank
// column communicating_ns: int, an NCCL or RCCL kernel ran
// column overlapped_ns: int, of it, a kernel that computes ran
// column exposed_ns: int, of it, none did
// column overlapped_percent: int, overlapped of communicating, rounded down
// column computing_ns: int, a kernel that computes ran
MATCH (r:Rank)
WHERE r.run = $run AND r.communicating_ns > 0
RETURN r.rank AS rank, r.communicating_ns AS communicating_ns, r.overlapped_ns AS overlapped_ns,
       r.communicating_ns - r.overlapped_ns AS exposed_ns,
       100 * r.overlapped_ns / r.communicating_ns AS overlapped_percent, r.computing_ns AS computing_ns
ORDER BY rank, r.uid
