"""The rules a set of Chakra files is held to for ASTRA-sim: what it does where one is broken, and the remedy.

In:  nothing. Out: `RULES`, from which docs/simulators.md is made, and `Found`, one broken rule.
Decided here: severities. error = ASTRA-sim aborts, hangs, or runs fewer nodes and says nothing; warning =
only some readers refuse it, or order and time come out wrong; note = it runs, and differs from the recording.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphstore.queries.draft import listed

IDS_KEPT = 100  # ids an evidence lists; all are counted


@dataclass(frozen=True)
class Rule:
    """One rule: its severity, what the simulator does where it is broken, what to do about it."""

    topic: str
    severity: str
    effect: str
    remedy: str


@dataclass(frozen=True)
class Found:
    """A rule broken by a rank (None: by the ranks together); `subject` tells several of one rule apart."""

    rule: str
    rank: int | None
    message: str
    evidence: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    subject: str = ""
    confidence: str = "high"


def about(rule: str, rank: int | None, where: str, text: str, ids: Iterable[int], **evidence: Any) -> Found:
    """Return a finding on nodes: "`where`: `text` (first ids)"; `text` holds {n} for their number."""
    ids = [int(node) for node in ids]
    message = f"{where}: {text.format(n=f'{len(ids):,}')} ({listed(ids)})"
    return Found(rule, rank, message, {"nodes": len(ids), "ids": ids[:IDS_KEPT], **evidence}, len(ids))


def _files() -> dict[str, Rule]:
    topic = "files"
    return {
        "file_name": Rule(topic, "error", "does not find the file", "name it PREFIX.RANK.et"),
        "several_workloads": Rule(
            topic, "error", "reads the files of one folder and PREFIX only", "give all ranks one PREFIX"
        ),
        "rank_missing": Rule(
            topic, "error", "exits: the file of a rank is missing", "number ranks from 0 without holes"
        ),
        "too_few_ranks": Rule(
            topic, "error", "refuses a network of fewer than 2 NPUs", "give the files of 2 or more ranks"
        ),
        "not_writable": Rule(
            topic, "warning", "opens its input for appending, so it refuses the file", "chmod u+w, or copy it"
        ),
        "file_packed": Rule(topic, "error", "does not unpack", "unpack the file"),
        "file_cut": Rule(
            topic, "error", "reads a cut last node with left-over bytes", "write the file again"
        ),
        "no_metadata": Rule(
            topic, "error", "takes the first node as metadata: it never runs", "write GlobalMetadata first"
        ),
        "no_nodes": Rule(topic, "error", "aborts on a rank without nodes", "write one COMP node of 1 µs"),
    }


def _graph() -> dict[str, Rule]:
    topic = "graph"
    return {
        "duplicate_id": Rule(
            topic, "error", "keeps only the last node of an id; another feeder crashes", "number nodes anew"
        ),
        "dangling_dep": Rule(
            topic,
            "error",
            "aborts at load; a feeder of data deps alone waits for an absent data dep for ever",
            "drop the dep, or write the node it names",
        ),
        "cycle": Rule(
            topic, "error", "ends with exit 0 and never runs what is in or behind it", "drop one dep of each"
        ),
        "cycle_over_data": Rule(
            topic, "error", "the same, in feeders of data deps alone, too", "drop one data dep of each"
        ),
        "self_dep": Rule(
            topic, "error", "ends with exit 0; the node and what follows never run", "drop the dep"
        ),
        "nothing_free": Rule(topic, "error", "aborts: no node is free at the start", "break the cycles"),
        "repeated_dep": Rule(
            topic, "warning", "runs; one feeder stalls for good", "name each dep once in a field"
        ),
        "order_in_ctrl_only": Rule(
            topic, "warning", "feeders of data deps alone lose the order", "repeat the dep in data_deps"
        ),
        "many_ready": Rule(
            topic,
            "warning",
            "slows down with the square of the nodes ready at once: 5,000 took 17 s, 20,000 did not end in "
            "110 s",
            "chain the nodes of a thread or stream by data deps",
        ),
        "ends_with_transfer": Rule(
            topic,
            "error",
            "final statistics throw when a rank with CPU nodes ends with a send or recv",
            "end the rank with a COMP node after all others",
        ),
        "may_end_with_transfer": Rule(
            topic,
            "warning",
            "the same, if the send or recv that nothing waits for is the rank's last event",
            "end the rank with a COMP node after all others",
        ),
    }


def _nodes() -> dict[str, Rule]:
    topic = "nodes"
    return {
        "metadata_node": Rule(topic, "error", "aborts", "leave METADATA nodes out; groups go into the JSON"),
        "no_type": Rule(
            topic, "error", "starts what waits for the node only by chance", "give every node a type"
        ),
        "memory_node": Rule(
            topic, "warning", "exits unless a memory model is configured", "write a COMP node"
        ),
        "memory_without_size": Rule(
            topic, "error", "exits, with a memory model, too", "write a COMP node, or tensor_size"
        ),
        "communication_on_cpu": Rule(
            topic, "error", "aborts, or leaves the node unreleased", "is_cpu_op = false on communication"
        ),
        "unsupported_collective": Rule(
            topic,
            "error",
            "aborts: it knows ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL and BROADCAST",
            "REDUCE_SCATTER_BLOCK as REDUCE_SCATTER, BARRIER as a small ALL_REDUCE, others as BROADCAST",
        ),
        "broadcast_without_duration": Rule(
            topic, "warning", "lets a broadcast take its duration, so 1 ns", "write the duration"
        ),
        "attribute_absent": Rule(topic, "error", "aborts, or leaves the node unreleased", "write it"),
        "attribute_unreadable": Rule(
            topic, "error", "aborts: it turns integers into integers only", "write the type of the table"
        ),
        "attribute_wire_type": Rule(
            topic, "warning", "reads it; another feeder reads 0", "write the type of the table"
        ),
        "no_dimension": Rule(
            topic, "error", "never ends a collective whose involved_dim is all false", "leave it out"
        ),
        "roofline_incomplete": Rule(
            topic,
            "warning",
            "aborts with roofline-enabled: GPU COMP nodes need num_ops and tensor_size",
            "write both on all of them, or neither",
        ),
        "all_gather_never_ends": Rule(
            topic,
            "error",
            "loops for ever on fewer bytes than chunks (preferred-dataset-splits, often 4)",
            "leave it out, or write an ALL_REDUCE",
        ),
        "all_gather_small": Rule(
            topic, "warning", "loops for ever where the system has more chunks than bytes", "64 bytes or more"
        ),
        "collective_of_nothing": Rule(
            topic, "note", "pads 0 bytes up and simulates the collective", "leave it out"
        ),
        "transfer_of_nothing": Rule(
            topic, "error", "aborts on a send or recv of 0 bytes", "leave it out on both ranks"
        ),
    }


def _groups() -> dict[str, Rule]:
    topic = "groups"
    ids = "name it by a number of the JSON"
    return {
        "group_file_absent": Rule(
            topic, "error", "exits: a group is not in the JSON", "comm_groups.json beside the files"
        ),
        "group_file_bad": Rule(
            topic, "error", "aborts at start on a key that is 0 or no number", "ids 1 … 499, lists of ranks"
        ),
        "group_file_path": Rule(
            topic, "warning", 'takes a path that holds "empty" for no file', "move the file"
        ),
        "group_id_high": Rule(topic, "warning", "was not seen to take ids above 499", "ids 1 … 499"),
        "group_member_outside": Rule(
            topic, "error", "waits for a member that never comes", "global ranks inside the world"
        ),
        "group_members_unsorted": Rule(
            topic,
            "warning",
            "was seen with ascending members, each once, only",
            "members ascending, each once",
        ),
        "group_text": Rule(topic, "error", "aborts on a group named by text", ids),
        "group_unknown": Rule(topic, "error", "exits: a group is not in the JSON", ids),
        "group_not_member": Rule(
            topic, "error", "aborts: the caller is no member of the group", "correct the group or its members"
        ),
        "group_of_one": Rule(
            topic, "error", "never finishes a collective of one rank", "write a COMP node with the duration"
        ),
        "world_without_id": Rule(
            topic,
            "warning",
            "counts subgroup calls as calls of the world, so a change of these hangs all ranks",
            "give the world a number of its own",
        ),
        "world_counter_differs": Rule(
            topic,
            "error",
            "hangs all ranks: before a call of the world ranks made different numbers of subgroup calls",
            "give the world a number of its own",
        ),
    }


def _matching() -> dict[str, Rule]:
    topic = "matching"
    return {
        "calls_differ": Rule(
            topic, "error", "all members hang on the call", "the same kind and bytes on every member"
        ),
        "call_missing": Rule(
            topic, "error", "the others hang on the call", "complete or drop it on all members"
        ),
        "collectives_unordered": Rule(
            topic,
            "warning",
            "one comm slot a rank: the ranks may start two collectives in different order and hang",
            "a data dep from each collective of a rank to the next",
        ),
        "collective_deadlock": Rule(
            topic, "error", "the ranks wait for each other for ever", "one order of collectives on all ranks"
        ),
        "transfer_deadlock": Rule(
            topic,
            "error",
            "the ranks wait for each other for ever",
            "no dep from a recv to the send it awaits",
        ),
        "recv_unmatched": Rule(
            topic, "error", "the rank hangs, and nothing is said", "source, target, tag and bytes as the send"
        ),
        "send_unmatched": Rule(
            topic, "warning", "the bytes arrive and nobody takes them", "write the recv, or drop the send"
        ),
        "peer_outside": Rule(
            topic, "error", "aborts: the peer is not in the world or is the rank itself", "global ranks"
        ),
        "tag_outside": Rule(topic, "error", "aborts", "tags 0 … 499,999,999"),
        "own_rank_differs": Rule(
            topic, "error", "aborts: src of a send and dst of a recv are the own rank", "leave it out"
        ),
    }


RULES: dict[str, Rule] = {**_files(), **_graph(), **_nodes(), **_groups(), **_matching()}
