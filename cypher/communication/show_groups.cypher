// Process groups: members, where the membership was read, and the calls of the ranks loaded.
// param run: text, the run asked
// column group: text, group key: name and members
// column pg_name: text, name as in c10d
// column pg_desc: text, description as in c10d
// column members: list[int], global ranks
// column backend: text, backend as recorded
// column origin: text, where the membership was read
// column complete: bool, whether members is the whole set
// column calls: int, communication calls on it
MATCH (g:ProcessGroup)
WHERE g.run = $run
RETURN g.group AS group, g.pg_name AS pg_name, g.pg_desc AS pg_desc, g.members AS members, g.backend AS backend,
       g.origin AS origin, g.complete AS complete, COUNT { (g)<-[:IN_GROUP]-(:Op) } AS calls
ORDER BY group, g.uid
