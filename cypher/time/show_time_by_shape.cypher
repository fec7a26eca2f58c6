// The host ops of one name by the shapes of their inputs: how many, how long.
// param run: text, the run asked
// param name: text, the name, as written in the trace
// param rank: int = null, one rank alone
// column input_shapes: json, shapes of the inputs as recorded; null where no execution trace has them
// column ops: int, how many
// column duration_ns: int, sum from start to end
// column self_ns: int, sum of their own time
// column longest_ns: int, the longest
MATCH (n:HostOp)
WHERE n.run = $run AND n.name = $name AND ($rank IS NULL OR n.rank = $rank)
RETURN n.input_shapes AS input_shapes, count(*) AS ops, sum(n.duration_ns) AS duration_ns,
       sum(n.self_ns) AS self_ns, max(n.duration_ns) AS longest_ns
ORDER BY self_ns DESC, ops DESC, input_shapes
