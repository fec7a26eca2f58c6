// The Chakra nodes of one rank with their recorded ctrl deps and their place in the tree of the first of them.
// internal: repairs
// param rank: int, global rank
// column uid: int, key
// column node_id: int, id as recorded
// column ctrl_deps: list[int], as recorded
// column root: int, uid of the top of its tree
// column depth: int, edges to that top
MATCH (n:ChakraNode)
WHERE n.run = $run AND n.rank = $rank
RETURN n.uid AS uid, n.node_id AS node_id, n.ctrl_deps AS ctrl_deps, n.root AS root, n.depth AS depth
ORDER BY uid
