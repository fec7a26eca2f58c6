// Who sends how much to whom: sends by source and destination, the parts of each all_to_all among them.
// A part is the split that the sender's call records for the member at that place, in bytes of the element type; a
// call without splits gives every member the same. What a rank keeps for itself is a row of its own.
// param run: text, the run asked
// param group: text = null, only this group, by its key: name and members
// column src: int, global rank that sends
// column dst: int, global rank that receives; null where that is not proven
// column sends: int, sends
// column sent_bytes: int, their bytes
// column parts: int, parts of all_to_all calls
// column part_bytes: int, bytes of these parts
MATCH (c:CollectiveCall)
WHERE c.run = $run AND c.collective_kind IN ['send', 'all_to_all'] AND ($group IS NULL OR c.group = $group)
OPTIONAL MATCH (c)-[:IN_GROUP]->(g:ProcessGroup)
WITH c.rank AS src, c.collective_kind AS kind, c.peer_rank AS peer, c.size_bytes AS size, c.in_msg_nelems AS elements,
     coalesce(c.in_split, []) AS splits, coalesce(g.members, []) AS members
WITH src, kind, peer, size, elements, splits, CASE WHEN kind = 'send' THEN [-1] ELSE members END AS targets
UNWIND range(0, size(targets) - 1) AS place
WITH src, kind, CASE WHEN kind = 'send' THEN peer ELSE targets[place] END AS dst,
     CASE WHEN kind = 'send' THEN size
          WHEN size(splits) = 0 THEN size / size(targets)
          WHEN elements > 0 THEN splits[place] * (size / elements)
          ELSE 0 END AS bytes
RETURN src, dst, sum(CASE WHEN kind = 'send' THEN 1 ELSE 0 END) AS sends,
       sum(CASE WHEN kind = 'send' THEN bytes ELSE 0 END) AS sent_bytes,
       sum(CASE WHEN kind = 'send' THEN 0 ELSE 1 END) AS parts,
       sum(CASE WHEN kind = 'send' THEN 0 ELSE bytes END) AS part_bytes
ORDER BY src, dst
