"""A process that imports an archive file and is killed.

Called as `python -m tests.integration.mover FILE STORE MOMENT`. The moments are those of importer.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from graphstore import api, settings
from tests.integration.importer import arm


def main() -> None:
    """Import the file and die when told."""
    file, address, moment = sys.argv[1:]
    api.import_archive(Path(file), settings.load(address), progress=arm(moment))


if __name__ == "__main__":
    main()
