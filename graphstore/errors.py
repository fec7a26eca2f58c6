"""The family of errors, each with the exit code the command line ends with.

Every message is one line that names the file, the position, what was found and what to do next.

```
GraphstoreError
├── UsageError           2  the words of the call do not fit together
│   └── QueryError       2  a Cypher text that is refused or does not run
├── InputError           3  a file that cannot be read as what it was given as
│   ├── NoTraceError     3  among the files is no trace
│   ├── TraceFormatError 3  the bytes do not hold what their format promises
│   ├── RankError        3  rank unknown, or claimed twice
│   └── RunMismatchError 3  files of different runs given as one
├── StoreError           4  the store is absent, refuses, or is held by somebody else
├── QueryTimeoutError  124  the time limit of a query was reached
└── LedgerError          1  records read and records accounted for differ: a defect of graphstore
```
"""

from __future__ import annotations


class GraphstoreError(Exception):
    """The root of the family; `exit_code` is what the command line returns for it."""

    exit_code = 1


class UsageError(GraphstoreError):
    """The words of the call do not fit together: unknown name, missing option, wrong parameter."""

    exit_code = 2


class QueryError(UsageError):
    """A Cypher text is refused (it writes, it reads files) or does not run."""


class InputError(GraphstoreError):
    """A file cannot be read as what it was given as. The message names file, position and remedy."""

    exit_code = 3


class NoTraceError(InputError):
    """Among the files of a folder is no trace; none of them is broken either."""


class TraceFormatError(InputError):
    """The bytes of a file do not hold what their format promises."""


class RankError(InputError):
    """No rank can be told for a file, or two files of one kind claim the same."""


class RunMismatchError(InputError):
    """Files given as one run are provably of different runs."""


class StoreError(GraphstoreError):
    """The store is absent, refuses the call, or is held by another process."""

    exit_code = 4


class QueryTimeoutError(GraphstoreError):
    """A query reached its time limit."""

    exit_code = 124


class LedgerError(GraphstoreError):
    """Records read and records accounted for differ. Never the user's fault."""
