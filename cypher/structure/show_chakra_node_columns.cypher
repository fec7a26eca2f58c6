// Id, times and recorded deps of a rank's Chakra nodes, as parallel lists in one row, for keys from $first to
// before $after. -1 stands for null (a list holds none).
// internal: export
// param run: text, the run
// param rank: int, global rank
// param first: int, lowest key
// param after: int, key behind the highest
// column uid: list[int], keys
// column name: list[text], names
// column node_id: list[int], ids as recorded
// column start_ns: list[int], start as recorded
// column duration_ns: list[int], duration as recorded
// column chakra_kind: list[text], node types
// column ctrl_deps: list[int], number of ctrl deps as recorded
// column data_deps: list[int], number of data deps as recorded
MATCH (n:ChakraNode) WHERE n.run = $run AND n.rank = $rank AND n.uid >= $first AND n.uid < $after
RETURN collect(n.uid) AS uid, collect(n.name) AS name, collect(coalesce(n.node_id, -1)) AS node_id,
  collect(coalesce(n.start_ns, -1)) AS start_ns, collect(coalesce(n.duration_ns, -1)) AS duration_ns,
  collect(coalesce(n.chakra_kind, '')) AS chakra_kind, collect(size(coalesce(n.ctrl_deps, []))) AS ctrl_deps,
  collect(size(coalesce(n.data_deps, []))) AS data_deps
