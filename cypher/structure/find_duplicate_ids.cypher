// Ids that more than one record of a file has (workers forked while the observer was on write the same ids).
// Ids are counted first, and only where they are fewer than records are the records looked at one by one.
// check: duplicate_id   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column trace_file: int, uid of the file
// column ids: int, ids used more than once
// column records: int, records that have one of them
// column first_ids: list[int], the first 20 of these ids
// column subjects: list[int], uids: the first record of each of 50 ids, then the last of each
MATCH (n:HostOp|Kernel|ChakraNode)
WHERE n.run = $run AND n.node_id IS NOT NULL
WITH n.rank AS rank, coalesce(n.trace_file, -1) AS trace_file, count(*) AS all_records,
     count(DISTINCT n.node_id) AS all_ids
WHERE all_records > all_ids
MATCH (n:HostOp|Kernel|ChakraNode)
WHERE n.run = $run AND n.rank = rank AND coalesce(n.trace_file, -1) = trace_file AND n.node_id IS NOT NULL
WITH rank, trace_file, n.node_id AS node_id, count(*) AS times, min(n.uid) AS first_uid, max(n.uid) AS last_uid
WHERE times > 1
WITH rank, trace_file, node_id, times, first_uid, last_uid ORDER BY rank, trace_file, node_id
WITH rank, trace_file, count(*) AS ids, sum(times) AS records, collect(node_id) AS used,
     collect(first_uid) AS first_uids, collect(last_uid) AS last_uids
RETURN rank, trace_file, ids, records, used[0..20] AS first_ids, first_uids[0..50] + last_uids[0..50] AS subjects
ORDER BY rank, trace_file
