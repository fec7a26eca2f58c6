// What the host ops of the given keys carry beside their place in the order, as parallel lists in one row.
// -1 and '' stand for null (a list holds none). They come in no order: read uid.
// internal: export
// param run: text, the run
// param uids: list[int], keys of host ops
// column uid: list[int], keys
// column rf_id: list[int], record function id
// column autograd_seq_id: list[int], autograd sequence number
// column fw_tid: list[int], thread number of the forward op
// column fw_parent: list[int], node_id of the forward op's parent
// column scope: list[int], RecordScope
// column synthetic: list[int], 1 where a repair created the op
// column op_schema: list[text], operator schema
// column input_values: list[text], values of the inputs
// column input_shapes: list[text], shapes of the inputs
// column input_types: list[text], types of the inputs
// column output_values: list[text], values of the outputs
// column output_shapes: list[text], shapes of the outputs
// column output_types: list[text], types of the outputs
MATCH (n:Op) WHERE n.run = $run AND n.uid IN $uids
RETURN collect(n.uid) AS uid, collect(coalesce(n.rf_id, -1)) AS rf_id,
  collect(coalesce(n.autograd_seq_id, -1)) AS autograd_seq_id, collect(coalesce(n.fw_tid, -1)) AS fw_tid,
  collect(coalesce(n.fw_parent, -1)) AS fw_parent, collect(coalesce(n.scope, -1)) AS scope,
  collect(CASE WHEN n.synthetic THEN 1 ELSE 0 END) AS synthetic, collect(coalesce(n.op_schema, '')) AS op_schema,
  collect(coalesce(n.input_values, '')) AS input_values, collect(coalesce(n.input_shapes, '')) AS input_shapes,
  collect(coalesce(n.input_types, '')) AS input_types, collect(coalesce(n.output_values, '')) AS output_values,
  collect(coalesce(n.output_shapes, '')) AS output_shapes, collect(coalesce(n.output_types, '')) AS output_types
