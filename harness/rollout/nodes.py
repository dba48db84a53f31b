"""Which nodes there are and in which order they are replaced; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from harness.base.errors import HarnessError
from harness.cluster.topology import Topology

USUAL_TOPOLOGY = "3+3"
BROKER = "broker"  # what a node is that is no controller
STATIC = "static"
_TOPOLOGY = re.compile(rf"(\d{{1,2}})(combined)?\+(\d{{1,2}})({STATIC})?")
_LEAST_VOTERS = 3
_LEAST_BROKERS = 3


def parse_topology(text: str) -> Topology:
    """Return the topology that `3+3` or `5+8` (controllers and brokers) or `3combined+1` names; `static` may follow.

    Raises HarnessError when it cannot be read, or when it could not lose any node: two of three controllers make a
    quorum, and with two in-sync replicas demanded the third broker may be away. How many nodes there may be is a matter
    of the host's memory (harness.stages.preflight).
    """
    match = _TOPOLOGY.fullmatch(text)
    if match is None:
        raise HarnessError(
            f"--topology {text} is none.",
            "Write 5+3 for 5 controllers and 3 brokers, 3combined+1 for 3 nodes that are both and 1 broker; "
            "3+3static where controller.quorum.voters says who votes.",
        )
    topology = Topology(int(match[1]), int(match[3]), combined=bool(match[2]), static_voters=bool(match[4]))
    if topology.controllers < _LEAST_VOTERS or len(topology.broker_ids) < _LEAST_BROKERS:
        raise HarnessError(
            f"--topology {text} cannot lose a node: a roll needs {_LEAST_VOTERS} controllers and {_LEAST_BROKERS} "
            "brokers at least.",
            "Write 3+3 or 3combined+1.",
        )
    return topology


class First(StrEnum):
    """Which nodes of a roll come before the others."""

    BROKERS = "brokers-first"
    CONTROLLERS = "controllers-first"


def in_words(first: First) -> str:
    """Return the order of a roll as a clause."""
    if first is First.BROKERS:
        return "brokers first, the active controller last"
    return "controllers first, of them the active one last"


def usual_order(*, whole_kafkas: bool) -> First:
    """Return who comes first where nobody says."""
    return First.CONTROLLERS if whole_kafkas else First.BROKERS


def choice_of(order: Sequence[int], first: str, *, whole_kafkas: bool) -> str:
    """Return in one sentence which order was chosen, why, and how another is rehearsed.

    `order` and `first` are what the user named, empty where nothing was said. A whole Kafka goes to the controllers
    first in Kafka's own system tests (kraft_upgrade_test.py), in Strimzi's roller and in Confluent's manual ("KRaft,
    then Kafka"), up and down; Kafka's upgrade page names no order. For a raft jar nobody names one.
    """
    usual = usual_order(whole_kafkas=whole_kafkas)
    if order:
        return (
            f"Nodes come in the order that was given: --order {','.join(map(str, order))}; left out, {in_words(usual)}."
        )
    if first and First(first) is not usual:
        return f"{_capital(in_words(First(first)))}, as was asked for by --order {first}; left out, {in_words(usual)}."
    if usual is First.CONTROLLERS:
        why = (
            "as Kafka's own system tests, Strimzi's roller and Confluent's manual do it; Kafka's upgrade page names no "
            "order"
        )
    else:
        why = "since a broker only observes the metadata quorum, and a jar that fails there takes no vote with it"
    other = next(each for each in First if each is not usual)
    return f"{_capital(in_words(usual))}, {why}; another order is rehearsed by --order {other}, or node ids."


def _capital(clause: str) -> str:
    return clause[0].upper() + clause[1:]


def parse_order(text: str, topology: Topology) -> tuple[int, ...]:
    """Return the node ids in the order given (`3,4,5,0,1,2`); empty text, or who comes first, names none.

    Raises HarnessError.
    """
    if not text or text in list(First):
        return ()
    ids = [int(word) if word.strip().isdigit() else -1 for word in text.split(",")]
    if sorted(ids) != sorted(topology.node_ids):
        raise HarnessError(
            f"--order {text} does not name every node once.",
            f"The nodes are {', '.join(map(str, topology.node_ids))}; or write {' or '.join(First)}.",
        )
    return tuple(ids)


def next_node(left: Sequence[int], topology: Topology, active_controller: int, first: First = First.BROKERS) -> int:
    """Return which of the nodes left comes next; of the controllers the active one comes last."""

    def lateness(node: int) -> tuple[bool, bool, int]:
        is_late = (node in topology.voter_ids) is (first is First.BROKERS)
        return is_late, node == active_controller, node

    return min(left, key=lateness)


def roles_of(node: int, topology: Topology, active_controller: int) -> str:
    """Return what a node is, in words: `broker`, `controller`, `controller and broker, the active controller`."""
    if node not in topology.voter_ids:
        return BROKER
    both = "controller and broker" if topology.combined else "controller"
    return f"{both}, the active controller" if node == active_controller else both
