"""How nodes of the quorum check what they are sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from harness.cluster.formatting import kafka_uuid, new_uuid
from harness.cluster.raft_requests import REQUESTS, Stray, can_say, send_in
from harness.scenario.conditions.quorum_answers import asked_once, in_versions
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_OTHER_TOPIC = "orders"


@dataclass(frozen=True, slots=True)
class RaftRequestsAreChecked:
    """Every voter refuses requests of Raft that are wrong, each with the error that is meant for it (KIP-595, KIP-853).

    Of another cluster, for another topic or none, of an epoch that is over or has not begun, to another node or another
    disk of it, from nobody, with offsets below 0; and a vote for who lacks records is not granted
    (KafkaRaftClient.handle*Request, validateVoterOnlyRequest and validateLeaderOnlyRequest). In the newest version,
    and in each older one that a node understands as far as that can say what is wrong: of Fetch from 13 on, since when
    topics go by their ids. Of FetchSnapshot only that of another cluster is among them:
    what else may be wrong is another question (SnapshotRequestsAreChecked).
    """

    name: ClassVar[str] = "raft_requests_are_checked"
    description: str = "every voter refuses requests of Raft that are wrong, each with its error"

    def sample(self, world: World) -> Sample:
        """Send each of them to each voter once; an epoch that ends meanwhile says nothing."""
        return asked_once(world, lambda quorum: _answers(world, quorum.leader, quorum.epoch))


def _answers(world: World, leader: int, epoch: int) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what was sent to whom, with what was answered and what is right."""
    cluster = world.cluster
    for node, address in cluster.controllers.items():
        if not cluster.nodes[node].is_running:
            continue
        right = Stray(kafka_uuid(cluster.id), epoch, leader, node)
        versions = {name: cluster.wire.versions(name, address) for name in REQUESTS}
        for what, (name, stray, error) in _wrong(right):
            newest = max(versions[name])
            for asked, of in in_versions(f"{what}, to voter {node}", versions[name]):
                if of is versions[name][newest] or can_say(of, name, stray, right):
                    yield asked, (send_in(of, address, name, stray), error)


def _wrong(right: Stray) -> Iterator[tuple[str, tuple[str, Stray, str]]]:
    """Yield what is wrong with a request, its name, the request, and the error that is meant for it."""
    foreign = replace(right, cluster=kafka_uuid(new_uuid()))
    for name in REQUESTS:
        yield f"{name} of another cluster", (name, foreign, "inconsistent_cluster_id")
    elsewhere = replace(right, topic=_OTHER_TOPIC)
    for name in ("vote", "begin_quorum_epoch", "end_quorum_epoch", "fetch"):
        yield f"{name} for another topic", (name, elsewhere, "invalid_request")
    over, coming = replace(right, epoch=right.epoch - 1), replace(right, epoch=right.epoch + 1)
    for name in ("begin_quorum_epoch", "end_quorum_epoch", "fetch"):
        yield f"{name} of an epoch that is over", (name, over, "fenced_leader_epoch")
    # A log ends in an epoch before the candidate's, of which there is none before the first.
    fenced = "fenced_leader_epoch" if over.epoch > 0 else "invalid_request"
    yield "vote of an epoch that is over", ("vote", replace(over, last_epoch=0), fenced)
    yield "fetch of an epoch that has not begun", ("fetch", coming, "unknown_leader_epoch")
    for name in ("vote", "begin_quorum_epoch"):
        misled = replace(right, receiver=right.receiver + 1)
        yield f"{name} to another node", (name, misled, "invalid_voter_key")
        other_disk = replace(right, receiver_directory=new_uuid())
        yield f"{name} to another disk of the node", (name, other_disk, "invalid_voter_key")
    for name in ("vote", "begin_quorum_epoch", "end_quorum_epoch", "fetch"):
        yield f"{name} without a topic", (name, replace(right, has_topic=False), "invalid_request")
    for name in ("vote", "fetch"):
        yield f"{name} with a log that ends before its beginning", (name, replace(right, offset=-1), "invalid_request")
        yield f"{name} with a log of an epoch below 0", (name, replace(right, last_epoch=-1), "invalid_request")
    ahead = replace(right, last_epoch=right.epoch + 1)
    yield "fetch by a log that is ahead of its leader", ("fetch", ahead, "invalid_request")
    yield "a vote for nobody", ("vote", replace(right, node=-1), "invalid_request")
    eager = replace(right, last_epoch=right.epoch)
    yield "a vote by a log that is ahead of its epoch", ("vote", eager, "invalid_request")
    yield "a vote for a voter without a log", ("vote", right, "none")


@condition
def raft_requests_are_checked() -> RaftRequestsAreChecked:
    """Every voter refuses requests of Raft that are wrong, each with its error."""
    return RaftRequestsAreChecked()
