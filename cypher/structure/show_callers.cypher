// What called or launched some ops: one step up.
// param run: text, the run asked
// param uids: list[int], the ops
// column uid: int, the caller
// column called: int, the op
UNWIND $uids AS wanted
MATCH (b:Op {uid: wanted})<-[:CTRL|LAUNCHES]-(a:Op)
WHERE b.run = $run
RETURN a.uid AS uid, b.uid AS called
ORDER BY called, uid
