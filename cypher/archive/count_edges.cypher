// Schema overview: edges of the run by type and the labels of their ends; those between ops come first.
// param run: text, the run asked
// column edge_type: text, relationship type
// column source: text, label of the source; the kind of an op
// column target: text, label of the target; the kind of an op
// column edges: int, how many
MATCH (a:Op)-[e:CTRL|LAUNCHES|DATA|SYNC|SEEN_AS|PEER]->(b:Op)
WHERE a.run = $run
RETURN type(e) AS edge_type, a.kind AS source, b.kind AS target, count(*) AS edges
ORDER BY edge_type, source, target
UNION ALL
MATCH (a:TraceFile|Rank|Thread|Stream|Collective|Channel|Finding|Repair|Op)
      -[e:IN_RUN|ON_RANK|MEMBER|IN_GROUP|CALL_OF|WAITS_FOR|ABOUT|MADE]->(b)
WHERE a.run = $run
RETURN type(e) AS edge_type,
       CASE WHEN a:TraceFile THEN 'TraceFile' WHEN a:Rank THEN 'Rank' WHEN a:Thread THEN 'Thread'
            WHEN a:Stream THEN 'Stream' WHEN a:Collective THEN 'Collective' WHEN a:Channel THEN 'Channel'
            WHEN a:Finding THEN 'Finding' WHEN a:Repair THEN 'Repair' ELSE a.kind END AS source,
       CASE WHEN b:Run THEN 'Run' WHEN b:Rank THEN 'Rank' WHEN b:ProcessGroup THEN 'ProcessGroup'
            WHEN b:Collective THEN 'Collective' WHEN b:Channel THEN 'Channel' WHEN b:TraceFile THEN 'TraceFile'
            WHEN b:Finding THEN 'Finding' ELSE b.kind END AS target,
       count(*) AS edges
ORDER BY edge_type, source, target
