// Attributes, inputs and outputs of the Chakra nodes of the given keys, as parallel lists in one row. '' stands
// for null (a list holds none). They come in no order: read uid.
// internal: export
// param run: text, the run
// param uids: list[int], keys of Chakra nodes
// column uid: list[int], keys
// column attributes: list[text], JSON of the attributes: {name: [wire type, value]}
// column input_values: list[text], values of the inputs
// column input_shapes: list[text], shapes of the inputs
// column input_types: list[text], types of the inputs
// column output_values: list[text], values of the outputs
// column output_shapes: list[text], shapes of the outputs
// column output_types: list[text], types of the outputs
MATCH (n:Op) WHERE n.run = $run AND n.uid IN $uids
RETURN collect(n.uid) AS uid, collect(coalesce(n.attributes, '')) AS attributes,
  collect(coalesce(n.input_values, '')) AS input_values, collect(coalesce(n.input_shapes, '')) AS input_shapes,
  collect(coalesce(n.input_types, '')) AS input_types, collect(coalesce(n.output_values, '')) AS output_values,
  collect(coalesce(n.output_shapes, '')) AS output_shapes, collect(coalesce(n.output_types, '')) AS output_types
