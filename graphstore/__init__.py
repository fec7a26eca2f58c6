"""A graph-database-backed store for the traces of distributed PyTorch jobs."""

__version__ = "0.1.0"
