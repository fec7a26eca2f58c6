// What the archive knows of a run.
// param run: text, the run asked
// column run: text, its id
// column name: text, its name
// column status: text, ready when complete
// column world_size: int, ranks of the job
// column ranks: list[int], ranks loaded
// column origin_ns: int, absolute time of start_ns = 0
// column created: text, when it was imported
// column tool_version: text, version that imported it
// column tags: list[text], tags
MATCH (r:Run)
WHERE r.run = $run
RETURN r.run AS run, r.name AS name, r.status AS status, r.world_size AS world_size, r.ranks AS ranks,
       r.origin_ns AS origin_ns, r.created AS created, r.tool_version AS tool_version, r.tags AS tags
ORDER BY run, r.uid
