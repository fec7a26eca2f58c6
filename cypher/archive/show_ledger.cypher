// The ledger: records read = kept + left out, per file.
// param run: text, the run asked
// column name: text, file name
// column kind: text, kind of file
// column rank: int, global rank
// column records_read: int, records found
// column kept: int, records that became nodes
// column left_out: json, {reason: count} of the others
MATCH (f:TraceFile)
WHERE f.run = $run
RETURN f.name AS name, f.kind AS kind, f.rank AS rank, f.records_read AS records_read, f.kept AS kept,
       f.left_out AS left_out
ORDER BY kind, rank, name, f.uid
