// How the other side of the sends and recvs is known: by their group, by all groups they can be of, by pairing
// those of all ranks, or not at all.
// param run: text, the run
// column rank: int, global rank
// column collective_kind: text, send or recv
// column peer_origin: text, what proves the other side (group, every_group or pairing); null where nothing does
// column calls: int, calls
MATCH (c:CollectiveCall)
WHERE c.run = $run AND c.is_p2p AND c.collective_kind IS NOT NULL
RETURN c.rank AS rank, c.collective_kind AS collective_kind, c.peer_origin AS peer_origin, count(*) AS calls
ORDER BY rank, collective_kind, peer_origin
