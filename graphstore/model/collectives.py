"""One word for every spelling of a collective: 'allreduce', 'c10d::allreduce_', 'ncclDevKernel_AllReduce…'.

In:  a name as recorded. Out: a collective_kind of CollectiveCall (model/schema.py), or None. Pure
functions; shared by readers and link. Spellings: c10d's op names and profiling titles (ProcessGroupNCCL,
-Gloo, -MPI, -UCC), the names below `c10d::` and `_c10d_functional::`, and NCCL's kernel names.
"""

from __future__ import annotations

import re
from functools import lru_cache

COLLECTIVE_KINDS = (
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "broadcast",
    "all_to_all",
    "barrier",
    "reduce",
    "gather",
    "scatter",
)
P2P_KINDS = ("send", "recv")

# letters of a name, without its variant → kind
_KIND_BY_STEM = {kind.replace("_", ""): kind for kind in (*COLLECTIVE_KINDS, *P2P_KINDS)} | {
    "alltoallv": "all_to_all",
    "allgatherv": "all_gather",
    "reducescatterv": "reduce_scatter",
    "sparseallreduce": "all_reduce",
    "monitoredbarrier": "barrier",
    "allreducebarrier": "barrier",  # how the NCCL backend titles the all_reduce it makes a barrier of
    "recvanysource": "recv",
    "isend": "send",
    "irecv": "recv",
}
# what a variant adds behind the stem: in one tensor, several at once, out of place, into one tensor …
_VARIANT = re.compile(r"(coalesced|intotensor|tensor|single|base|oop|block|out|autograd)$")
_KERNEL = re.compile(r"[nr]ccl\w*kernel", re.IGNORECASE)
_KERNEL_KIND = re.compile(r"AllReduce|AllGather|ReduceScatter|AllToAll|Broadcast|Reduce|Gather|Scatter")


@lru_cache(maxsize=4096)
def collective_kind(op_name: str) -> str | None:
    """Return the kind of the communication called `op_name`; None when it is none (`wait`, `init`, aten ops).

    Takes a bare name ('_allgather_base', 'send 0->1'), or one behind a namespace or backend ('c10d::recv_',
    'nccl:all_reduce'); the namespace is not checked, so ask only about names that are communication.
    """
    title = op_name.rsplit(":", 1)[-1].strip().split(" ", 1)[0]
    stem = re.sub(r"[^a-z]", "", title.lower())
    while stem not in _KIND_BY_STEM and (variant := _VARIANT.search(stem)):
        stem = stem[: variant.start()]
    return _KIND_BY_STEM.get(stem)


def is_collective_kernel(kernel_name: str) -> bool:
    """Return whether a device op is an NCCL or RCCL kernel, be its kind known or not (Generic, SendRecv)."""
    return _KERNEL.search(kernel_name) is not None


@lru_cache(maxsize=4096)
def collective_kind_of_kernel(kernel_name: str) -> str | None:
    """Return the kind an NCCL or RCCL kernel's name tells; None for Generic and SendRecv, which tell none.

    SendRecv does a send, a recv or an all_to_all; only the call that launched it says which.
    """
    if not is_collective_kernel(kernel_name):
        return None
    found = _KERNEL_KIND.search(kernel_name)
    return collective_kind(found.group()) if found else None
