// The runs of the archive with what tells them apart.
// param runs: list[text], the runs asked
// column run: text, its id
// column name: text, its name
// column created: text, when it was imported
// column world_size: int, ranks of the job
// column trace_bytes: int, bytes of its files as stored
// column tool_version: text, version that imported it
// column tags: list[text], tags
// column note: text, what people wrote about it
MATCH (r:Run)
WHERE r.run IN $runs AND r.status = 'ready'
RETURN r.run AS run, r.name AS name, r.created AS created, r.world_size AS world_size, r.trace_bytes AS trace_bytes,
       r.tool_version AS tool_version, r.tags AS tags, r.note AS note
ORDER BY created, run, r.uid
