"""Records become edges: pure functions over columns. `link_rank` per rank, then `assemble` for the run."""

from graphstore.link.assemble import assemble
from graphstore.link.rank import link_rank

__all__ = ["assemble", "link_rank"]
