// The process groups of a run with their members.
// internal: export
// param run: text, the run
// column group: text, group key
// column pg_name: text, name as in c10d
// column members: list[int], global ranks
// column complete: bool, whether these are all members
MATCH (g:ProcessGroup) WHERE g.run = $run
RETURN g.group AS group, g.pg_name AS pg_name, g.members AS members, g.complete AS complete
ORDER BY g.uid
