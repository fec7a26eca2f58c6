// Ids that more than one record of a file has (workers forked while the observer was on write the same ids).
// check: duplicate_id   severity: error   engines: kglite, neo4j
// param run: text, the run asked
// column rank: int, global rank
// column trace_file: int, uid of the file
// column ids: int, ids used more than once
// column records: int, records that have one of them
// column first_ids: list[int], the first 20 of these ids
// column subjects: list[int], uids of the first 100 of these records, in the order of their ids
MATCH (n:HostOp|Kernel|ChakraNode)
WHERE n.run = $run AND n.node_id IS NOT NULL
WITH n.rank AS rank, n.trace_file AS trace_file, n.node_id AS node_id, count(*) AS records, collect(n.uid) AS uids
WHERE records > 1
WITH rank, trace_file, node_id, records, uids ORDER BY rank, trace_file, node_id
WITH rank, trace_file, count(*) AS ids, sum(records) AS records, collect(node_id) AS first_ids, collect(uids) AS lists
RETURN rank, trace_file, ids, records, first_ids[0..20] AS first_ids,
       reduce(flat = [], uids IN lists[0..50] | flat + uids)[0..100] AS subjects
ORDER BY rank, trace_file
