// The ops with an id of the trace, one a rank unless an id was used twice. A communication call has the id of its
// host op and is none of them.
// param run: text, the run asked
// param node_id: int, id in the execution trace or Chakra file
// column uid: int, the op
// column rank: int, its rank
MATCH (n:HostOp|Kernel|ChakraNode)
WHERE n.run = $run AND n.node_id = $node_id
RETURN n.uid AS uid, n.rank AS rank
ORDER BY uid
