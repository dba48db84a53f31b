"""How the leader answers a Fetch: at once where it must, else when a record comes or the time is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from harness.cluster.formatting import kafka_uuid
from harness.cluster.protocol import Unreachable
from harness.cluster.raft_requests import Fetched, Stray, fetched
from harness.scenario.conditions.quorum_answers import compared
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

# The leader appends a no-op every half second: a long wait sees one come, a short one mostly does not.
_LONG_SECONDS = 2.0
_SHORT_SECONDS = 0.15
_AT_ONCE_SECONDS = 0.1
_BEYOND = 1000


@dataclass(frozen=True, slots=True)
class FetchesAreAnswered:
    """The leader answers a Fetch at once for each of its five reasons, and ends a long poll in both ways.

    KafkaRaftClient.handleFetchRequest: an error, records, no time to wait, a log that diverges, a log that begins
    before the leader's snapshot; else it waits for a record, as long as it is told. The leader must have a snapshot.
    """

    name: ClassVar[str] = "fetches_are_answered"
    description: str = "the leader answers each kind of Fetch as it must, and when it must"

    def sample(self, world: World) -> Sample:
        """Send each of them once; not every look catches the log at its end, and none on its way to grow."""
        leader = world.quorum().leader
        if leader < 0:
            return Sample(False, {"leader": leader}, testable=False)
        try:
            return compared(dict(_answers(world, leader)), leader)
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)})


def _answers(world: World, leader: int) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what was fetched, with what was answered and what is right."""
    cluster = world.cluster

    def at_end() -> Stray:
        quorum = world.quorum()
        end = quorum.voters.get(leader, 0)
        return Stray(kafka_uuid(cluster.id), quorum.epoch, leader, leader, offset=end, last_epoch=quorum.epoch)

    for what, stray, wait, right in _fetches(at_end):
        answer = fetched(cluster.wire, cluster.controllers[leader], stray, wait)
        yield what, (in_words(answer, wait), right)


def _fetches(at_end: Callable[[], Stray]) -> Iterator[tuple[str, Stray, float, str]]:
    """Yield what is fetched, the request, how long the leader may wait, and what is right; each at the present end."""
    end = at_end()
    over = replace(end, epoch=end.epoch - 1, last_epoch=end.epoch - 1)
    yield "of an epoch that is over", over, _LONG_SECONDS, "fenced_leader_epoch at once"
    yield "where there is a record", replace(end, offset=end.offset - 1), _LONG_SECONDS, "records at once"
    beyond = replace(end, offset=end.offset + _BEYOND)
    yield "behind the end of the log", beyond, _LONG_SECONDS, "a diverging epoch at once"
    yield "of the whole log", replace(end, offset=0, last_epoch=0), _LONG_SECONDS, "a snapshot at once"
    yield "without time to wait", at_end(), 0.0, "nothing at once"
    yield "at the end of the log", at_end(), _LONG_SECONDS, "records meanwhile"
    yield "at the end of the log, for a moment", at_end(), _SHORT_SECONDS, "nothing when its time is over"


def in_words(answer: Fetched, wait: float) -> str:
    """Return what was answered, and when, of a Fetch whose answer may wait so many seconds. Pure."""
    when = "when its time is over" if answer.seconds >= wait else "meanwhile"
    return f"{_kind(answer)} {'at once' if answer.seconds < _AT_ONCE_SECONDS else when}"


def _kind(answer: Fetched) -> str:
    if answer.error != "none":
        return answer.error
    if answer.snapshot >= 0:
        return "a snapshot"
    if answer.diverging >= 0:
        return "a diverging epoch"
    return "records" if answer.size else "nothing"


@condition
def fetches_are_answered() -> FetchesAreAnswered:
    """The leader answers a Fetch at once for each of its five reasons, and ends a long poll in both ways."""
    return FetchesAreAnswered()
