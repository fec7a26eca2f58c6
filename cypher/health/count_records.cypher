// The ledger by kind of file: records read = kept + left out. Which reasons left them out: archive/show_ledger.
// param run: text, the run asked
// column kind: text, et, kineto, flight_recorder … or not_a_trace
// column files: int, files of the kind
// column read: int, records found in them
// column kept: int, records that became nodes or properties of nodes
// column left_out: int, records that did not
// column cut: int, files that end before they should
// column unreadable: int, files of which nothing was read
MATCH (f:TraceFile)
WHERE f.run = $run
WITH f.kind AS kind, count(*) AS files, sum(f.records_read) AS read, sum(f.kept) AS kept,
     sum(CASE WHEN f.cut_at IS NULL THEN 0 ELSE 1 END) AS cut,
     sum(CASE WHEN f.problem IS NULL THEN 0 ELSE 1 END) AS unreadable
RETURN kind, files, read, kept, read - kept AS left_out, cut, unreadable
ORDER BY kind
