"""The names PyTorch gives the records of a trace that are no work: roots, group lists, step marks.

Source: trace-formats of the execution trace (its observer writes the roots and the init node) and of the
profiler (step marks). Before schema 1.0.2 the observer was called execution_graph.
"""

from __future__ import annotations

PROCESS_ROOTS = ("[pytorch|profiler|execution_trace|process]", "[pytorch|profiler|execution_graph|process]")
THREAD_ROOTS = ("[pytorch|profiler|execution_trace|thread]", "[pytorch|profiler|execution_graph|thread]")
GROUP_INIT = "## process_group:init ##"
STEP_NAME = r"^ProfilerStep#(\d+)$"
