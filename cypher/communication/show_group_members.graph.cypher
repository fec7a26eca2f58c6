// The process groups of a run and the ranks that are their members.
// param run: text, the run asked
// column path: path, a group and a member
MATCH path = (g:ProcessGroup)<-[:MEMBER]-(r:Rank)
WHERE g.run = $run
RETURN path AS path
