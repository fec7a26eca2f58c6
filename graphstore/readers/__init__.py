"""Files to records: find the files, tell what they are, read them into columns, and name their ranks.

In:  paths. Out: a FileRecords per file (model/records.py), whose tally balances.
Each format has a module of its own; source.py opens whatever holds it. Never here: what joins two files
of a rank (link/), or a guess: what a file does not say stays null.
"""

from graphstore.readers.detect import detect
from graphstore.readers.folder import FoundFiles, find_files
from graphstore.readers.parallel import read_files
from graphstore.readers.ranks import assign_ranks
from graphstore.readers.reading import read_file
from graphstore.readers.source import open_source

__all__ = ["FoundFiles", "assign_ranks", "detect", "find_files", "open_source", "read_file", "read_files"]
