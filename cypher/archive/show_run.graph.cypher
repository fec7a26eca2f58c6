// What a run is made of: its files, its ranks, their threads and streams.
// param run: text, the run asked
// column path: path, a file or a rank and the run, or what belongs to a rank
MATCH path = (r:Run)<-[:IN_RUN]-(part:Rank|TraceFile)
WHERE r.run = $run
RETURN path AS path
UNION ALL
MATCH path = (rank:Rank)<-[:ON_RANK]-(part:Thread|Stream)
WHERE rank.run = $run
RETURN path AS path
