"""What controllers answer to changes of the quorum that must be refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import ClassVar

from kio.schema.errors import ErrorCode

from harness.cluster.formatting import kafka_uuid, new_uuid
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.voter_changes import Answer, add_voter, remove_voter, update_voter
from harness.model.told import REFUSALS, in_words
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_NOBODY = 4711  # a node id that no node has

Answers = Iterable[tuple[str, tuple[str, str]]]  # what was asked, with what was answered and what is right


@dataclass(frozen=True, slots=True)
class VoterChangesAreUnsupported:
    """A quorum that only the configuration names takes nobody in and lets nobody go (kraft.version 0, KIP-853).

    UpdateRaftVoter is refused by 3.9 and 4.0 alone: from 4.1 on leaders keep in memory what voters tell (KAFKA-16538).
    """

    name: ClassVar[str] = "voter_changes_are_unsupported"
    description: str = "changes of static voters are refused as unsupported"

    def sample(self, world: World) -> Sample:
        """Ask the leader to add and to remove."""
        return asked_once(world, lambda quorum: _in_words(world, _unsupported(world, quorum.leader)))


def _unsupported(world: World, leader: int) -> Iterator[tuple[str, tuple[Answer, str]]]:
    """Yield what was asked, with the answer and what is right."""
    cluster, wire, at = world.cluster, world.cluster.wire, world.cluster.controllers[leader]
    own, node = kafka_uuid(cluster.id), cluster.nodes[leader]
    right = f"{ErrorCode.unsupported_version.name} with a message"
    added = add_voter(wire, at, own, (_NOBODY, new_uuid()), node.config.controller_listeners)
    yield "add a voter", (added, right)
    yield "remove a voter", (remove_voter(wire, at, own, (leader, node.directory)), right)


@dataclass(frozen=True, slots=True)
class VoterChangesAreRefused:
    """Changes of the voter set that cannot be are refused with the error that is meant for each, and a message.

    KIP-853; {Add,Remove,Update}VoterHandler and KafkaRaftClient.handle{Add,Remove,Update}VoterRequest. A follower says
    that it does not lead, to each of the three; 3.9 sends no message with that.
    """

    name: ClassVar[str] = "voter_changes_are_refused"
    description: str = "changes of the voter set that cannot be are refused, each with its error"

    def sample(self, world: World) -> Sample:
        """Send each of them once."""
        return asked_once(world, lambda quorum: _in_words(world, _refusals(world, quorum)))


def _refusals(world: World, quorum: Quorum) -> Iterator[tuple[str, tuple[Answer, str]]]:
    """Yield what was asked, with the answer and what is right."""
    leader, epoch = quorum.leader, quorum.epoch
    cluster, wire = world.cluster, world.cluster.wire
    own, foreign = kafka_uuid(cluster.id), kafka_uuid(new_uuid())
    at, node = cluster.controllers[leader], cluster.nodes[leader]
    voter, listeners = (leader, node.directory), node.config.controller_listeners
    stranger = (_NOBODY, new_uuid())
    yield "add a voter that votes", (add_voter(wire, at, own, voter, listeners), "duplicate_voter with a message")
    yield "add a voter without endpoints", (add_voter(wire, at, own, stranger, {}), "invalid_request with a message")
    yield (
        "add a voter that has fetched nothing",
        (add_voter(wire, at, own, stranger, listeners), "request_timed_out with a message"),
    )
    yield (
        "add a voter of another cluster",
        (add_voter(wire, at, foreign, stranger, listeners), "inconsistent_cluster_id with a message"),
    )
    yield "remove a stranger", (remove_voter(wire, at, own, stranger), "voter_not_found with a message")
    yield (
        "remove a voter by another directory id",
        (remove_voter(wire, at, own, (leader, new_uuid())), "voter_not_found with a message"),
    )
    updates = {
        "update a voter of another cluster": ((foreign, epoch, voter, listeners), "inconsistent_cluster_id"),
        "update a voter in an epoch that is over": ((own, epoch - 1, voter, listeners), "fenced_leader_epoch"),
        "update a voter in an epoch that has not begun": ((own, epoch + 1, voter, listeners), "unknown_leader_epoch"),
        "update a voter without endpoints": ((own, epoch, voter, {}), "invalid_request"),
        "update a stranger": ((own, epoch, stranger, listeners), "voter_not_found"),
    }
    for what, (update, right) in updates.items():
        yield what, (update_voter(wire, at, *update), right)
    for follower in (each.id for each in cluster.voters if each.is_running and each.id != leader):
        beside, where = cluster.controllers[follower], f"at follower {follower}"
        for what, answer in (
            ("remove the leader", remove_voter(wire, beside, own, voter)),
            ("add a voter", add_voter(wire, beside, own, stranger, listeners)),
            ("update the leader", update_voter(wire, beside, own, epoch, voter, listeners)),
        ):
            if answer.message:
                world.tell(REFUSALS, in_words(f"{what} at a follower"), in_words(answer.message))
            yield f"{what} {where}", (Answer(answer.code), "not_leader_or_follower")


def _in_words(world: World, answers: Iterable[tuple[str, tuple[Answer, str]]]) -> Answers:
    """Yield the answers as they are compared; what they say in words is told, to be held against base's."""
    for asked, (answer, right) in answers:
        if answer.message:
            world.tell(REFUSALS, in_words(asked), in_words(answer.message))
        yield asked, (_with_message(answer), right)


def _with_message(answer: Answer) -> str:
    return f"{answer.code} with a message" if answer.message else answer.code


def in_versions(asked: str, versions: Mapping[int, ModuleType]) -> Iterator[tuple[str, ModuleType]]:
    """Yield a question with kio's module of each version, by its own name in the newest, which comes first. Pure."""
    for version, of in versions.items():
        yield (asked if version == max(versions) else f"{asked}, in version {version}"), of


def asked_once(world: World, ask: Callable[[Quorum], Answers]) -> Sample:
    """Ask what one leader of one epoch answers, and what is answered wrongly is so for good.

    Who was led meanwhile by another, or in another epoch, has shown nothing.
    """
    quorum = world.quorum()
    try:
        seen = dict(ask(quorum)) if quorum.leader >= 0 else {}
    except Unreachable as error:
        return Sample(False, {"unreachable": str(error)}, problem=str(error))
    after = world.quorum()
    sample = compared(seen, quorum.leader)
    if not seen or (after.leader, after.epoch) != (quorum.leader, quorum.epoch):
        wrong = {"answered meanwhile": sample.problem} if sample.problem else {}
        return Sample(False, {"leader": after.leader, "epoch": after.epoch, **wrong}, testable=False)
    return replace(sample, final=not sample.ok)


def compared(seen: Mapping[str, tuple[str, str]], leader: int) -> Sample:
    """Compare pairs of what was answered and what is right. Pure."""
    wrong = [f"{asked}: {answer}, not {right}" for asked, (answer, right) in seen.items() if answer != right]
    detail = {"leader": leader, **{asked: answer for asked, (answer, _) in seen.items()}}
    return Sample(not wrong, detail, problem="; ".join(wrong))


@condition
def voter_changes_are_unsupported() -> VoterChangesAreUnsupported:
    """Additions and removals of voters that only the configuration names are refused as unsupported."""
    return VoterChangesAreUnsupported()


@condition
def voter_changes_are_refused() -> VoterChangesAreRefused:
    """Changes of the voter set that cannot be are refused, each with its error and a message."""
    return VoterChangesAreRefused()
