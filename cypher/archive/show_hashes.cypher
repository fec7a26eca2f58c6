// The files of the run: where each was read from, and the hash of its bytes.
// internal: runs verify
// param run: text, the run asked
// column name: text, file name
// column path: text, where it was read from
// column sha256: text, hash of the bytes as stored; null where it could not be read
MATCH (f:TraceFile)
WHERE f.run = $run
RETURN f.name AS name, f.path AS path, f.sha256 AS sha256
ORDER BY path, f.uid
