"""Records become edges: pure functions over columns. rank.py links a rank, then assemble.py makes the run.

Between them run_matching.py puts the calls of all ranks side by side; its `reduce_dumps` comes before
linking, which uses the tables up. Nothing is imported here: a process that reads dumps needs little of it.
"""
