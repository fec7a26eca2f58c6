// The files of the run: kind, rank and where it was told from, schema, size.
// param run: text, the run asked
// column uid: int, the file
// column name: text, file name
// column kind: text, et, et_plus, kineto, flight_recorder, chakra_et, not_a_trace
// column rank: int, global rank
// column rank_origin: text, flag, content, file_name or assumed
// column schema: text, schema as written
// column size_bytes: int, bytes as stored
// column compression: text, none, gz or zstd
// column problem: text, why nothing was read
// column cut_at: text, where a cut-off file ends
MATCH (f:TraceFile)
WHERE f.run = $run
RETURN f.uid AS uid, f.name AS name, f.kind AS kind, f.rank AS rank, f.rank_origin AS rank_origin, f.schema AS schema,
       f.size_bytes AS size_bytes, f.compression AS compression, f.problem AS problem, f.cut_at AS cut_at
ORDER BY kind, rank, name, uid
