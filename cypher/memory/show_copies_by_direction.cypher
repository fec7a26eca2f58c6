// Bytes moved by copies and sets on the devices, by direction: how many, bytes, time, speed.
// The direction is what the name of the copy says: host to device, device to host, device to device, peer to peer.
// param run: text, the run asked
// param rank: int = null, only this global rank
// column rank: int, global rank
// column direction: text, HtoD, DtoH, DtoD, PtoP, HtoH, set, or other where the name says none
// column copies: int, how many
// column size_bytes: int, sum of their bytes
// column duration_ns: int, sum of their durations
// column largest_bytes: int, the largest of them
// column gb_s: float, bytes / time in GB/s (10^9 B); null without time
MATCH (k:Kernel)
WHERE k.run = $run AND k.device_kind IN ['memcpy', 'memset'] AND ($rank IS NULL OR k.rank = $rank)
WITH k.rank AS rank, k.size_bytes AS size, k.duration_ns AS lasts,
     CASE WHEN k.device_kind = 'memset' THEN 'set'
          WHEN k.name CONTAINS 'HtoD' OR k.name CONTAINS 'HostToDevice' THEN 'HtoD'
          WHEN k.name CONTAINS 'DtoH' OR k.name CONTAINS 'DeviceToHost' THEN 'DtoH'
          WHEN k.name CONTAINS 'DtoD' OR k.name CONTAINS 'DeviceToDevice' THEN 'DtoD'
          WHEN k.name CONTAINS 'PtoP' OR k.name CONTAINS 'PeerToPeer' THEN 'PtoP'
          WHEN k.name CONTAINS 'HtoH' OR k.name CONTAINS 'HostToHost' THEN 'HtoH'
          ELSE 'other' END AS direction
WITH rank, direction, count(*) AS copies, sum(size) AS size_bytes, sum(lasts) AS duration_ns, max(size) AS largest
RETURN rank, direction, copies, size_bytes, duration_ns, largest AS largest_bytes,
       CASE WHEN duration_ns > 0 THEN 1.0 * size_bytes / duration_ns ELSE null END AS gb_s
ORDER BY rank, direction
