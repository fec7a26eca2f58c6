// Schema overview: nodes of the run by label; the kinds of op come first.
// param run: text, the run asked
// column label: text, the label
// column nodes: int, how many
MATCH (n:Op)
WHERE n.run = $run
RETURN n.kind AS label, count(*) AS nodes ORDER BY label
UNION ALL
MATCH (n:Run|TraceFile|Rank|Thread|Stream|ProcessGroup|Collective|Channel|Cause|Finding|Repair)
WHERE n.run = $run
RETURN CASE WHEN n:Run THEN 'Run' WHEN n:TraceFile THEN 'TraceFile' WHEN n:Rank THEN 'Rank'
            WHEN n:Thread THEN 'Thread' WHEN n:Stream THEN 'Stream' WHEN n:ProcessGroup THEN 'ProcessGroup'
            WHEN n:Collective THEN 'Collective' WHEN n:Channel THEN 'Channel' WHEN n:Cause THEN 'Cause'
            WHEN n:Finding THEN 'Finding' ELSE 'Repair' END AS label, count(*) AS nodes ORDER BY label
