// Ops that nothing calls, launches or comes before: where each tree, and each graph of deps, begins.
// internal: export
// param run: text, the run asked
// column uid: int, the op
// column rank: int, its rank
MATCH (n:HostOp|RuntimeCall|Kernel|ChakraNode)
WHERE n.run = $run AND NOT EXISTS { (n)<-[:CTRL]-() } AND NOT EXISTS { (n)<-[:LAUNCHES]-() }
  AND NOT EXISTS { (n)<-[:DATA]-() }
RETURN n.uid AS uid, n.rank AS rank
ORDER BY uid
