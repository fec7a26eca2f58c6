"""Records become edges: pure functions over columns. `link_rank` per rank, then `assemble` for the run.

Between them `match_run` puts the calls of all ranks side by side; `reduce_dumps` comes before linking, which
uses the tables up.
"""

from graphstore.link.assemble import assemble
from graphstore.link.rank import link_rank
from graphstore.link.run_matching import match_run, reduce_dumps

__all__ = ["assemble", "link_rank", "match_run", "reduce_dumps"]
