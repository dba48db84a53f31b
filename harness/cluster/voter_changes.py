"""Changes of the voter set (KIP-853): what was answered, with its words."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import ModuleType
from typing import Any

from kio.schema.errors import ErrorCode
from kio.static.primitive import i16, i32, i32Timedelta, u16

from harness.cluster.address import Address
from harness.cluster.probes import describe_quorum_request
from harness.cluster.protocol import Wire, ask, fitting

_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a node answered: the error's name (`none` for success) and its message, empty without one."""

    code: str
    message: str = ""

    @property
    def is_done(self) -> bool:
        """Whether it did what it was asked."""
        return self.code == ErrorCode.none.name

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


def add_voter(
    wire: Wire,
    address: Address,
    cluster: str,
    voter: tuple[int, uuid.UUID],
    listeners: Mapping[str, Address],
) -> Answer:
    """Ask a controller to take a node (id, directory id) into the voter set. Raises Unreachable."""
    of = wire.schemas("add_raft_voter", address)
    node, directory = voter
    request = fitting(
        of.AddRaftVoterRequest,
        cluster_id=cluster,
        timeout=i32Timedelta.parse(timedelta(seconds=_TIMEOUT_SECONDS)),
        voter_id=i32(node),
        voter_directory_id=directory,
        listeners=_listeners(of, listeners),
        ack_when_committed=True,
    )
    return answer_of(ask(address, request, timeout=_TIMEOUT_SECONDS))


def _listeners(of: ModuleType, listeners: Mapping[str, Address]) -> tuple[Any, ...]:
    return tuple(of.Listener(name=name, host=at.host, port=u16(at.port)) for name, at in listeners.items())


def remove_voter(
    wire: Wire, address: Address, cluster: str, voter: tuple[int, uuid.UUID], timeout: float = _TIMEOUT_SECONDS
) -> Answer:
    """Ask a controller to take a node (id, directory id) out of the voter set. Raises Unreachable."""
    of = wire.schemas("remove_raft_voter", address)
    node, directory = voter
    request = of.RemoveRaftVoterRequest(cluster_id=cluster, voter_id=i32(node), voter_directory_id=directory)
    return answer_of(ask(address, request, timeout=timeout))


def update_voter(
    wire: Wire,
    address: Address,
    cluster: str,
    epoch: int,
    voter: tuple[int, uuid.UUID],
    listeners: Mapping[str, Address],
) -> Answer:
    """Tell a controller the new endpoints of a voter (id, directory id) (UpdateRaftVoter). Raises Unreachable."""
    of = wire.schemas("update_raft_voter", address)
    node, directory = voter
    request = fitting(
        of.UpdateRaftVoterRequest,
        cluster_id=cluster,
        current_leader_epoch=i32(epoch),
        voter_id=i32(node),
        voter_directory_id=directory,
        listeners=_listeners(of, listeners),
        k_raft_version_feature=of.KRaftVersionFeature(min_supported_version=i16(0), max_supported_version=i16(1)),
    )
    return answer_of(ask(address, request, timeout=_TIMEOUT_SECONDS))


def directory_of(wire: Wire, address: Address, node: int) -> uuid.UUID | None:
    """Return the directory id by which the voter set names a node, as its leader says; None where it names none.

    Raises Unreachable.
    """
    answer = ask(address, describe_quorum_request(wire, address, 1.0), timeout=_TIMEOUT_SECONDS)
    voters = [each for topic in answer.topics for found in topic.partitions for each in found.current_voters]
    named = (getattr(each, "replica_directory_id", None) for each in voters if int(each.replica_id) == node)
    return next(named, None)


def answer_of(response: Any) -> Answer:
    """Return the error of a response, or of a part of one, with its message."""
    return Answer(response.error_code.name, getattr(response, "error_message", "") or "")
