"""Raft's rules: each history forged by hand breaks just one; whatever a small model of Raft does breaks none."""

import math
import random
from dataclasses import replace

import pytest
import quorum_model
from hypothesis import given
from hypothesis import strategies as st
from quorum_model import STEPS, QuorumModel, happen, votes

from harness.cluster.conformance.history import History
from harness.cluster.conformance.observations import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    Attempted,
    Booted,
    ControllerClaimed,
    Counted,
    DiskReplaced,
    Files,
    HighWatermarkMoved,
    ListenerTold,
    LogStartMoved,
    Looked,
    MajorityMissed,
    Metered,
    Named,
    Place,
    PreVoteGranted,
    SnapshotKept,
    State,
    Transitioned,
    Truncated,
    Unseen,
    VersionApplied,
    VoteGranted,
    VotersApplied,
)
from harness.cluster.conformance.rules import RULES, violations
from harness.cluster.conformance.voter_rules import has_lost_voters
from harness.cluster.metadata_log.files import QuorumState

VOTERS = frozenset({0, 1, 2})


def state(kind, epoch, leader=-1, voted=-1, **more):
    if kind == LEADER:
        more = {"voters": VOTERS, "start": 10} | more
    if kind == FOLLOWER:
        more = {"fetch_timeout": 2.0} | more
    return State(kind, epoch, leader, voted, **more)


def of_4(*named, **more):
    return state(*named, of_4=True, **more)


def step(before, now):
    return lambda place: Transitioned(place, now, before)


def begin(now):
    return step(None, now)


def voters(offset, *nodes):
    return lambda place: VotersApplied(place, offset, votes(nodes))


def votes_at(offset, port, *nodes):
    return lambda place: VotersApplied(place, offset, votes(nodes, port))


def unresolved(offset, *nodes):
    named = votes(nodes)
    hidden = frozenset(
        replace(each, endpoints=frozenset((name, "", port) for name, _, port in each.endpoints)) for each in named
    )
    return lambda place: VotersApplied(place, offset, hidden)


def high(offset):
    return lambda place: HighWatermarkMoved(place, offset)


def counted(offset, ends, first_of=-1):
    return lambda place: Counted(place, offset, ends, first_of)


def cut(offset, *, whole=False):
    return lambda place: Truncated(place, offset, whole)


def granted(epoch, candidate, *last):
    return lambda place: VoteGranted(place, epoch, candidate, *([last] if last else []))


def pre_granted(epoch, candidate, *last):
    return lambda place: PreVoteGranted(place, epoch, candidate, last)


def casts(epoch, candidate):
    """A voter votes, before it says that it grants that."""
    return step(state(UNATTACHED, epoch), state(UNATTACHED, epoch, voted=candidate))


def version(offset, level):
    return lambda place: VersionApplied(place, offset, level)


def kept(offset, epoch, *, fetched=False):
    return lambda place: SnapshotKept(place, offset, epoch, fetched)


def begins_at(offset):
    return lambda place: LogStartMoved(place, offset)


def active(epoch):
    return lambda place: ControllerClaimed(place, epoch)


def later(seconds, make):
    return lambda place: make(replace(place, at=place.at + seconds))


def history(*said, looks=(), files=(), over=False, slow=1.0, metered=(), ending=()):
    """A history of what node 0, node 1 and so on said, a line a second from 1000 on; node 0 said `ending` last."""
    return History(_by_node(said), looks, files, over, slow, metered, _by_node([ending], 1900.0))


def _by_node(said, first=1000.0):
    return {
        node: tuple(make(Place(node, line, first + line)) for line, make in enumerate(lines, 1))
        for node, lines in enumerate(said)
    }


def tells(base, listener="MetadataLoader@7"):
    return lambda place: ListenerTold(place, listener, base)


def attempt(now):
    return lambda place: Attempted(place, now)


def metrics(seconds, *, node=0, first=1010.0, **said):
    """What a node's metrics say for so many seconds, a line a second."""
    return [Metered(node, first + at, first + at + 1, **said) for at in range(seconds + 1)]


def rising(seconds, *, first=1010.0, log_end):
    """Metrics of a follower whose high watermark rises from 10 on, one a second."""
    return [
        Metered(0, first + at, first + at + 1, "follower", 3, 1, high_watermark=10 + at, log_end=log_end)
        for at in range(seconds + 1)
    ]


def elected(epoch, *, node=0, **more):
    """What a node says that wins an election."""
    candidate = state(CANDIDATE, epoch)
    return (
        step(state(UNATTACHED, epoch - 1), candidate),
        step(candidate, state(LEADER, epoch, **more)),
        counted(11, dict.fromkeys(VOTERS, 11), epoch),
        active(epoch),
    )


def look(at, *fetched, slow=1.0, epoch=3):
    return Looked(at, 0, epoch, dict(enumerate((-1.0, *fetched))), slow, line=7)


def by_own_clock(looked, ahead):
    """A look with the leader's own entry, by a clock that is so many seconds ahead."""
    return replace(looked, fetched={**looked.fetched, looked.leader: looked.at + ahead})


def elsewhere(seconds, first=1005.0, *, node=1, every=0.5, slow=1.0):
    """Looks at node 0, which names another address of a node than its own, and from which all have just fetched."""
    looks = (look(first + at * every, *[first + at * every] * 2, slow=slow) for at in range(int(seconds / every) + 1))
    return [replace(each, elsewhere=frozenset({node})) for each in looks]


SILENT = [look(1003.0, 1003.0, 1003.0), look(1010.0, 1003.0, 1003.0), look(1011.5, 1003.0, 1003.0)]
FOLLOWS = begin(state(FOLLOWER, 3, 0))
FOLLOWS_1 = begin(state(FOLLOWER, 3, 1))

FORGED = {
    "a follower leads without an election": (
        "legal_transitions",
        history([step(state(FOLLOWER, 2, 1), state(LEADER, 3))]),
    ),
    "a process begins as leader": ("legal_transitions", history([begin(state(LEADER, 3))])),
    "a leader stands for election": (
        "legal_transitions",
        history([step(state(LEADER, 3), state(CANDIDATE, 4))]),
    ),
    "a candidate leads another epoch than it stood for": (
        "legal_transitions",
        history([step(state(CANDIDATE, 3), state(LEADER, 4))]),
    ),
    "a follower skips an epoch as it stands for election": (
        "legal_transitions",
        history([step(state(FOLLOWER, 3, 1), state(CANDIDATE, 5))]),
    ),
    "a leader resigns into the next epoch": (
        "legal_transitions",
        history([step(state(LEADER, 3), state(RESIGNED, 4))]),
    ),
    "a follower of 4.x stands for election without asking before": (
        "legal_transitions",
        history([step(state(FOLLOWER, 3, 1), state(CANDIDATE, 4, of_4=True))]),
    ),
    "a prospective candidate leads": (
        "legal_transitions",
        history([step(state(PROSPECTIVE, 3, of_4=True), state(LEADER, 3, of_4=True))]),
    ),
    "a follower goes over to another leader of its epoch": (
        "legal_transitions",
        history([step(state(FOLLOWER, 3, 1), state(FOLLOWER, 3, 2))]),
    ),
    "an unattached voter takes its vote back": (
        "legal_transitions",
        history([step(state(UNATTACHED, 3, voted=1), state(UNATTACHED, 3, voted=2))]),
    ),
    "an observer stands for election": (
        "only_voters_stand",
        history([voters(2, 1, 2), step(state(UNATTACHED, 3), state(CANDIDATE, 4))]),
    ),
    "a voter stands that was removed": (
        "only_voters_stand",
        history([voters(2, 0, 1, 2), voters(9, 1, 2), step(state(FOLLOWER, 3, 1), state(CANDIDATE, 4))]),
    ),
    "an epoch falls in a process": (
        "epoch_never_falls",
        history([begin(state(UNATTACHED, 5)), begin(state(UNATTACHED, 4))]),
    ),
    "an epoch falls from one process to the next": (
        "epoch_never_falls",
        history([begin(state(FOLLOWER, 5, 1)), Booted, begin(state(UNATTACHED, 3))]),
    ),
    "a voter grants two votes in an epoch": ("one_vote_per_epoch", history([granted(3, 1), granted(3, 2)])),
    "a candidate votes for another too": (
        "one_vote_per_epoch",
        history([step(state(FOLLOWER, 2, 1), state(CANDIDATE, 3)), granted(3, 2)]),
    ),
    "a voter has forgotten its vote when it starts again": (
        "one_vote_per_epoch",
        history([begin(state(UNATTACHED, 3, voted=1)), Booted, begin(state(UNATTACHED, 3)), granted(3, 2)]),
    ),
    "a leader has its own vote only": (
        "elected_by_majority",
        history(elected(3), [begin(state(UNATTACHED, 3))], [begin(state(UNATTACHED, 3))], over=True),
    ),
    "a leader's voters voted for another": (
        "elected_by_majority",
        history(elected(3), [begin(state(UNATTACHED, 3, voted=2))], [begin(state(UNATTACHED, 2))], over=True),
    ),
    "a leader cuts off what it has appended": (
        "only_followers_truncate",
        history([*elected(3), high(11), cut(20)]),
    ),
    "a leader that resigned gives way to a snapshot": (
        "only_followers_truncate",
        history([begin(state(RESIGNED, 3)), cut(20, whole=True)]),
    ),
    "an unattached node begins to fetch a snapshot": (
        "only_followers_truncate",
        history([begin(state(UNATTACHED, 3)), kept(20, 2, fetched=True)]),
    ),
    "a voter votes for a log that ends before its own": (
        "candidates_are_up_to_date",
        history([begin(state(UNATTACHED, 3)), high(30), casts(3, 1), granted(3, 1, 0, 20)]),
    ),
    "a voter votes for a log that is longer, and of an earlier epoch": (
        "candidates_are_up_to_date",
        history(
            [*elected(3), counted(30, dict.fromkeys(VOTERS, 30))],
            [FOLLOWS, high(11), step(state(FOLLOWER, 3, 0), state(UNATTACHED, 4)), casts(4, 2), granted(4, 2, 2, 90)],
        ),
    ),
    "a voter has forgotten what its log held as it starts again": (
        "candidates_are_up_to_date",
        history([high(30), Booted, begin(state(UNATTACHED, 3)), casts(3, 1), granted(3, 1, 0, 29)]),
    ),
    "a voter that knows its leader grants a pre-vote to a log that ends before its own": (
        "candidates_are_up_to_date",
        history([begin(of_4(FOLLOWER, 3, 1)), high(30), Booted, begin(of_4(FOLLOWER, 3, 1)), pre_granted(3, 2, 0, 20)]),
    ),
    "a follower takes for committed what its leader does not": (
        "followers_know_what_leaders_committed",
        history([*elected(3), high(11)], [FOLLOWS, high(50)], over=True),
    ),
    "a follower of a later epoch takes for committed what no leader did": (
        "followers_know_what_leaders_committed",
        history(
            [*elected(3), high(11), step(state(LEADER, 3), state(FOLLOWER, 4, 1)), high(30)],
            [
                begin(state(UNATTACHED, 3, voted=0)),
                step(state(UNATTACHED, 3), state(CANDIDATE, 4)),
                step(state(CANDIDATE, 4), state(LEADER, 4, start=15)),
                high(20),
            ],
            [begin(state(UNATTACHED, 3)), step(state(UNATTACHED, 3), state(UNATTACHED, 4, voted=1))],
            over=True,
        ),
    ),
    "a leader grants a pre-vote": ("pre_vote_is_permitted", history([*elected(3), pre_granted(3, 2, 3, 11)])),
    "a follower that knows more by its leader grants a pre-vote": (
        "pre_vote_is_permitted",
        history([begin(of_4(FOLLOWER, 3, 1)), high(11), pre_granted(3, 2, 3, 11)]),
    ),
    "a follower that begins to fetch a snapshot of its leader grants a pre-vote": (
        "pre_vote_is_permitted",
        history([begin(of_4(FOLLOWER, 3, 1)), kept(11, 2, fetched=True), pre_granted(3, 2, 3, 11)]),
    ),
    "two nodes lead an epoch": ("one_leader_per_epoch", history(elected(3), elected(3))),
    "two followers follow two leaders of an epoch": (
        "one_leader_per_epoch",
        history([], [begin(state(FOLLOWER, 3, 0))], [begin(state(FOLLOWER, 3, 1))]),
    ),
    "a node that resigned from an epoch and one that is followed in it": (
        "one_leader_per_epoch",
        history([begin(state(RESIGNED, 3))], [], [begin(state(FOLLOWER, 3, 1))]),
    ),
    "a node that only knows of a leader knows another one": (
        "one_leader_per_epoch",
        history([begin(state(UNATTACHED, 3, leader=0, of_4=True))], [begin(state(FOLLOWER, 3, 2))]),
    ),
    "a follower votes in an epoch that has a leader": (
        "vote_is_permitted",
        history([begin(state(FOLLOWER, 3, 1)), granted(3, 2)]),
    ),
    "a leader that resigned votes in its epoch": (
        "vote_is_permitted",
        history([begin(state(RESIGNED, 3)), granted(3, 2)]),
    ),
    "a node votes in an epoch before its own": (
        "vote_is_permitted",
        history([begin(state(FOLLOWER, 5, 1)), granted(2, 2)]),
    ),
    "a leader begins without what was committed before": (
        "leader_completeness",
        history([*elected(3), counted(100, dict.fromkeys(VOTERS, 100))], elected(4, node=1)),
    ),
    "a follower cuts off what was committed for an earlier process": (
        "no_truncation_of_committed",
        history([high(100), Booted, FOLLOWS_1, cut(50)]),
    ),
    "a later snapshot is of an earlier epoch": ("snapshots_are_committed", history([kept(10, 5)], [kept(20, 3)])),
    "a leader stays that nobody but an observer's fetch of a snapshot was seen by": (
        "check_quorum",
        history(elected(3), [FOLLOWS], [], [later(3, kept(5, 1, fetched=True))], looks=SILENT),
    ),
    "a leader stays for long after a voter began to fetch a snapshot": (
        "check_quorum",
        history(
            elected(3),
            [FOLLOWS, later(3, kept(5, 1, fetched=True))],
            looks=[look(1003.0 + more, 1003.0, 1003.0) for more in range(60)],
        ),
    ),
    "a leader whose clock is ahead stays": (
        "check_quorum",
        history(
            elected(3), [FOLLOWS], looks=[by_own_clock(look(1003.0 + more, 1303.0, 1303.0), 300) for more in range(20)]
        ),
    ),
    "a high watermark falls": ("high_watermark_never_falls", history([high(12), high(14), high(13)])),
    "a leader commits what one of three has": ("committed_by_majority", history([counted(14, {0: 14, 1: 13, 2: -1})])),
    "a leader commits with two of four": (
        "committed_by_majority",
        history([counted(14, {0: 14, 1: 14, 2: 13, 3: 9})]),
    ),
    "a leader commits the epoch before its own first": (
        "own_epoch_committed_first",
        history([*elected(3)[:2], counted(10, dict.fromkeys(VOTERS, 10), 3)]),
    ),
    "a follower cuts off what is committed": ("no_truncation_of_committed", history([high(14), cut(13)])),
    "a follower takes a snapshot that is older than what it has": (
        "no_truncation_of_committed",
        history([high(14), cut(12, whole=True)]),
    ),
    "a snapshot of what is not committed": ("snapshots_are_committed", history([high(14), kept(15, 1)])),
    "two snapshots of one end and two epochs": ("snapshots_are_committed", history([kept(15, 1)], [kept(15, 2)])),
    "a leader that nobody fetches from stays": ("check_quorum", history(elected(3), [FOLLOWS], looks=SILENT)),
    "a leader that was cut off stays beside another one": (
        "check_quorum",
        history(
            elected(3),
            [FOLLOWS],
            looks=[each for look_ in SILENT for each in (look_, Looked(look_.at, 1, 4, {0: -1.0, 2: look_.at}))],
        ),
    ),
    "a leader gives up two seconds after a fetch": (
        "check_quorum",
        history([*elected(3), MajorityMissed], [FOLLOWS], looks=[look(1004.0, 1003.0, 1002.0)]),
    ),
    "a leader of five that only one fetches from stays": (
        "check_quorum",
        history(
            elected(3, voters=frozenset(range(5))),
            [FOLLOWS],
            looks=[look(at, at, 1003.0, 1003.0, 1003.0) for at in (1004.0, 1013.0, 1014.5)],
        ),
    ),
    "a leader whom nobody ever fetched from stays": (
        "check_quorum",
        history(elected(3), [FOLLOWS], looks=[look(at, -1.0, -1.0) for at in (1003.0, 1009.0, 1010.5)]),
    ),
    "a voter that follows and fetches never announces where it listens": (
        "endpoint_is_announced",
        history([*elected(3), version(2, 1)], [FOLLOWS], looks=elsewhere(21)),
    ),
    "a voter that moved once more announces nothing from then on": (
        "endpoint_is_announced",
        history([*elected(3), version(2, 1)], [FOLLOWS], looks=[*elsewhere(15), *elsewhere(21, 1030.0)]),
    ),
    "a voter announces nothing on a host that is slower by half, for longer by half": (
        "endpoint_is_announced",
        history([*elected(3), version(2, 1)], [FOLLOWS], looks=elsewhere(31, slow=1.5)),
    ),
    "a controller is active where another node leads": (
        "active_controller_leads",
        history([begin(state(FOLLOWER, 3, 1)), active(3)]),
    ),
    "a controller is active in an epoch that its node led in another process": (
        "active_controller_leads",
        history([*elected(3), Booted, begin(state(RESIGNED, 3)), active(3)]),
    ),
    "a controller never becomes active": (
        "active_controller_leads",
        history(
            [*elected(1)[:2], active(1), Booted, *elected(3)[:3], later(60, high(20))],
            [begin(state(UNATTACHED, 1, voted=0)), step(state(UNATTACHED, 1), state(UNATTACHED, 3, voted=0))],
            over=True,
        ),
    ),
    "two nodes have two voter sets at one offset": (
        "voters_as_logged",
        history([voters(9, 0, 1, 2), high(10)], [voters(9, 0, 1), high(10)]),
    ),
    "a leader counts other voters than its log names": (
        "voters_as_logged",
        history([voters(9, 0, 1), *elected(3)]),
    ),
    "a node has applied other voters than its disk has": (
        "voters_as_logged",
        history([voters(9, 0, 1), high(10)], files=[Files(0, 2000.0, voters={9: votes({0, 2})})]),
    ),
    "a node has missed a committed record of voters": (
        "voters_as_logged",
        history([voters(2, 0, 1), high(10)], files=[Files(0, 2000.0, voters={2: votes({0, 1}), 8: votes(VOTERS)})]),
    ),
    "kraft.version falls": ("kraft_version_as_logged", history([version(3, 1), version(7, 0), high(9)])),
    "two nodes have two levels of kraft.version at one offset": (
        "kraft_version_as_logged",
        history([version(3, 1), high(9)], [version(3, 0), high(9)]),
    ),
    "a segment lies below the start of the log": (
        "cleaned_below_log_start",
        history([begins_at(50)], files=[Files(0, 2000.0, segments=(0, 30, 60), snapshots=(50,))]),
    ),
    "a snapshot ends below the start of the log": (
        "cleaned_below_log_start",
        history([begins_at(50)], files=[Files(0, 2000.0, segments=(30, 60), snapshots=(20, 50))]),
    ),
    "an unattached voter has no vote any more": (
        "legal_transitions",
        history([step(state(UNATTACHED, 3, voted=1), state(UNATTACHED, 3))]),
    ),
    "a voter has forgotten its vote when it starts again, and casts no other yet": (
        "one_vote_per_epoch",
        history([begin(state(UNATTACHED, 3, voted=1)), Booted, begin(state(UNATTACHED, 3))]),
    ),
    "a voter goes back behind an epoch that it voted in": (
        "epoch_never_falls",
        history([begin(state(UNATTACHED, 3)), granted(5, 1), Booted, begin(state(UNATTACHED, 4))]),
    ),
    "a process stands in the epoch that its node led before, and leads it again": (
        "legal_transitions",
        history(
            [*elected(3), Booted, begin(state(CANDIDATE, 3)), step(state(CANDIDATE, 3), state(LEADER, 3, start=20))]
        ),
    ),
    "a node follows itself": ("legal_transitions", history([step(state(UNATTACHED, 2), state(FOLLOWER, 3, 0))])),
    "a node leads voters of which it is none": (
        "only_voters_stand",
        history([step(state(CANDIDATE, 3), state(LEADER, 3, voters=frozenset({1, 2})))]),
    ),
    "a voter has forgotten the leader when it starts again, and votes in its epoch": (
        "vote_is_permitted",
        history([begin(state(FOLLOWER, 3, 1)), Booted, begin(state(UNATTACHED, 3)), granted(3, 2)]),
    ),
    "a leader takes over what it knew as committed when it followed": (
        "own_epoch_committed_first",
        history([*elected(3)[:2], counted(10, dict.fromkeys(VOTERS, 10))]),
    ),
    "a leader counts less as committed than before": (
        "high_watermark_never_falls",
        history([counted(14, dict.fromkeys(VOTERS, 14)), counted(13, dict.fromkeys(VOTERS, 14))]),
    ),
    "a controller is active before its node leads": (
        "active_controller_leads",
        history([active(3), *elected(3)[:3]]),
    ),
    "a leader counts the voters of before its log named others": (
        "voters_as_logged",
        history([*elected(3)[:3], voters(11, 0, 1, 2, 3), counted(12, {0: 12, 1: 12, 2: 9})]),
    ),
    "kraft.version falls below that of the snapshot that the node was formatted with": (
        "kraft_version_as_logged",
        history([version(-1, 1), version(7, 0), high(9)]),
    ),
    "kraft.version is lower for the next process": (
        "kraft_version_as_logged",
        history([version(3, 1), high(9), Booted, version(9, 0), high(12)]),
    ),
    "a node has applied the voters of its disk at other endpoints": (
        "voters_as_logged",
        history([votes_at(9, 8, 0, 1), high(10)], files=[Files(0, 2000.0, voters={9: votes({0, 1})})]),
    ),
    "a node has applied other voters than those that it was formatted with": (
        "voters_as_logged",
        history([voters(-1, 0, 1)], files=[Files(0, 2000.0, named={0: Named(votes(VOTERS), 1)})]),
    ),
    "a node has applied another kraft.version than its disk has": (
        "kraft_version_as_logged",
        history([version(3, 0), high(9)], files=[Files(0, 2000.0, versions={3: 1})]),
    ),
    "a node has missed a committed kraft.version": (
        "kraft_version_as_logged",
        history([version(3, 0), high(9)], files=[Files(0, 2000.0, versions={3: 0, 7: 1})]),
    ),
    "a node has applied another kraft.version than its snapshot has": (
        "kraft_version_as_logged",
        history([version(8, 0), high(9)], files=[Files(0, 2000.0, named={9: Named(version=1)})]),
    ),
    "a snapshot has other voters than the log below its end": (
        "voters_as_logged",
        history([high(12)], files=[Files(0, 2000.0, voters={5: votes({0, 1})}, named={9: Named(votes({0, 2}))})]),
    ),
    "a snapshot has lost the voters": (
        "voters_as_logged",
        history([high(12)], files=[Files(0, 2000.0, voters={5: votes({0, 1})}, named={9: Named()})]),
    ),
    "a snapshot has another kraft.version than the log below its end": (
        "kraft_version_as_logged",
        history([high(12)], files=[Files(0, 2000.0, versions={5: 1}, named={9: Named()})]),
    ),
    "two snapshots of one end have two voter sets": (
        "voters_as_logged",
        history(
            [high(12)],
            [high(12)],
            files=[Files(node, 2000.0, named={9: Named(votes({0, node + 1}))}) for node in (0, 1)],
        ),
    ),
    "a node starts and reads no voters from its snapshot": (
        "voters_as_logged",
        history(
            [Booted, voters(2, 0, 1), begin(state(UNATTACHED, 1)), high(12), kept(9, 1), Booted, FOLLOWS_1],
            files=[Files(0, 2000.0, named={9: Named(votes({0, 1}))})],
        ),
    ),
    "a node whose disk was wiped reads no voters from the snapshot that it fetches": (
        "voters_as_logged",
        history(
            [Booted, voters(2, 0, 1), FOLLOWS_1, DiskReplaced, Booted, FOLLOWS_1, cut(9, whole=True), high(9)],
            files=[Files(0, 2000.0, named={9: Named(votes({0, 1}))})],
        ),
    ),
    "a node starts and reads no voters from what it was formatted with": (
        "voters_as_logged",
        history(
            [Booted, FOLLOWS_1],
            [voters(2, 0, 1)],
            files=[Files(0, 2000.0, named={0: Named(votes({0, 1}))})],
        ),
    ),
    "a node without a log fetches a snapshot and reads no kraft.version from it": (
        "kraft_version_as_logged",
        history(
            [
                Booted,
                begin(state(UNATTACHED, 1)),
                step(state(UNATTACHED, 1), state(FOLLOWER, 3, 1)),
                cut(9, whole=True),
                high(9),
            ],
            [version(2, 1)],
            files=[Files(0, 2000.0, named={9: Named(version=1)})],
        ),
    ),
    "quorum-state has another leader than the last step wrote": (
        "quorum_state_agrees",
        history(
            [attempt(state(FOLLOWER, 3, 1)), step(state(UNATTACHED, 3), state(FOLLOWER, 3, 1))],
            files=[Files(0, 2000.0, quorum=QuorumState(3, 2, -1))],
        ),
    ),
    "quorum-state is behind the last step of its node": (
        "quorum_state_agrees",
        history(
            [
                attempt(state(FOLLOWER, 3, 1)),
                step(state(UNATTACHED, 3), state(FOLLOWER, 3, 1)),
                attempt(state(UNATTACHED, 4)),
                step(state(FOLLOWER, 3, 1), state(UNATTACHED, 4)),
            ],
            files=[Files(0, 2000.0, quorum=QuorumState(3, 1, -1))],
        ),
    ),
    "quorum-state is behind the last step of a node that was asked to stop": (
        "quorum_state_agrees",
        history(
            [attempt(state(FOLLOWER, 3, 1)), step(state(UNATTACHED, 3), state(FOLLOWER, 3, 1))],
            files=[Files(0, 2000.0, quorum=QuorumState(3, 1, -1))],
            ending=[attempt(state(CANDIDATE, 4)), step(state(FOLLOWER, 3, 1), state(CANDIDATE, 4))],
        ),
    ),
    "quorum-state of a follower has a vote that it did not cast": (
        "quorum_state_agrees",
        history(
            [
                attempt(state(UNATTACHED, 3, voted=2)),
                begin(state(UNATTACHED, 3, voted=2)),
                attempt(state(FOLLOWER, 3, 1)),
                step(state(UNATTACHED, 3, voted=2), state(FOLLOWER, 3, 1)),
            ],
            files=[Files(0, 2000.0, quorum=QuorumState(3, 1, 1))],
        ),
    ),
    "quorum-state of a follower has a vote of an earlier epoch": (
        "quorum_state_agrees",
        history(
            [granted(3, 2), attempt(state(FOLLOWER, 4, 1)), begin(state(FOLLOWER, 4, 1))],
            files=[Files(0, 2000.0, quorum=QuorumState(4, 1, 2))],
        ),
    ),
    "quorum-state has no vote of a candidate": (
        "quorum_state_agrees",
        history(
            [attempt(state(CANDIDATE, 4)), step(state(UNATTACHED, 3), state(CANDIDATE, 4))],
            files=[Files(0, 2000.0, quorum=QuorumState(4, -1, -1))],
        ),
    ),
    "a listener hears what is not committed": (
        "listeners_hear_committed",
        history([high(14), tells(3), tells(14)]),
    ),
    "a listener hears the same records twice": (
        "listeners_hear_committed",
        history([high(14), tells(3), tells(9), tells(9)]),
    ),
    "metrics have another leader than the log": (
        "metrics_as_logged",
        history([begin(state(FOLLOWER, 3, 1))], metered=metrics(4, state="follower", epoch=3, leader=2)),
    ),
    "metrics have another epoch than the log": (
        "metrics_as_logged",
        history([begin(state(FOLLOWER, 3, 1))], metered=metrics(4, state="observer", epoch=2, leader=1)),
    ),
    "metrics have a state that the node left long before": (
        "metrics_as_logged",
        history(
            [*elected(3), step(state(LEADER, 3), state(RESIGNED, 3))],
            metered=metrics(4, state="leader", epoch=3, leader=0, voted=0),
        ),
    ),
    "metrics have a vote that was not cast": (
        "metrics_as_logged",
        history([begin(state(UNATTACHED, 3, voted=1))], metered=metrics(4, state="voted", epoch=3, voted=2)),
    ),
    "metrics have a lower high watermark than the log": (
        "metrics_as_logged",
        history(
            [begin(state(FOLLOWER, 3, 1)), high(9), high(12)],
            metered=metrics(4, state="follower", epoch=3, leader=1, high_watermark=9),
        ),
    ),
    "metrics have a higher high watermark than the log": (
        "metrics_as_logged",
        history(
            [begin(state(FOLLOWER, 3, 1)), high(9)],
            metered=metrics(4, state="follower", epoch=3, leader=1, high_watermark=12),
        ),
    ),
    "metrics have a high watermark that rises above the end of the log": (
        "metrics_as_logged",
        history([begin(state(FOLLOWER, 3, 1))], metered=rising(6, log_end=8)),
    ),
    "a controller stays active long after its node resigned": (
        "active_controller_leads",
        history(
            [*elected(3), step(state(LEADER, 3), state(RESIGNED, 3))],
            metered=metrics(30, state="unattached", epoch=3, leader=0, is_active=True),
        ),
    ),
    "a segment lies below the start of the log when a node has started again": (
        "cleaned_below_log_start",
        history(
            [begins_at(50), later(60, high(60)), Booted, high(60)],
            files=[Files(0, 2000.0, segments=(0, 30, 60), snapshots=(50,))],
        ),
    ),
}

ALLOWED = {
    "a build says how far records are committed while it leads, and not while it follows": history(
        [*elected(3), high(14), step(state(LEADER, 3), state(FOLLOWER, 4, 1)), tells(20), kept(21, 3)]
    ),
    "a voter announces where it listens at its third try": history(
        [*elected(3), version(2, 1)], [FOLLOWS], looks=elsewhere(19)
    ),
    "a voter announces where it listens late on a slow host": history(
        [*elected(3), version(2, 1)], [FOLLOWS], looks=elsewhere(28, slow=1.5)
    ),
    "a voter announces nothing on a host that starves nodes": history(
        [*elected(3), version(2, 1)], [FOLLOWS], looks=elsewhere(60, slow=math.inf)
    ),
    "a voter announces nothing, and for a moment nobody knows whether it is up": history(
        [*elected(3), version(2, 1)], [FOLLOWS], looks=[*elsewhere(15), *elsewhere(15, 1024.0)]
    ),
    "a voter announces nothing to a leader that has another epoch next": history(
        [*elected(3), version(2, 1)],
        [FOLLOWS, later(15, step(state(FOLLOWER, 3, 0), state(FOLLOWER, 4, 2)))],
        looks=[*elsewhere(15), *(replace(each, leader=2, epoch=4) for each in elsewhere(15, 1020.5))],
    ),
    "a voter was restarted in the epoch before it announced anything": history(
        [*elected(3), version(2, 1)], [FOLLOWS, later(18, Booted), later(18, FOLLOWS)], looks=elsewhere(35)
    ),
    "a voter that did not get through to the leader announces nothing": history(
        [*elected(3), version(2, 1)],
        [FOLLOWS],
        looks=[replace(each, fetched={**each.fetched, 1: 1004.0}) for each in elsewhere(60)],
    ),
    "a voter stands for election instead of announcing where it listens": history(
        [*elected(3), version(2, 1)],
        [FOLLOWS, later(3, step(state(FOLLOWER, 3, 0), state(UNATTACHED, 4)))],
        looks=elsewhere(60),
    ),
    "a leader that moved announces nothing: it follows nobody": history(
        [*elected(3), version(2, 1)], [FOLLOWS], looks=elsewhere(60, node=0)
    ),
    "a voter announces nothing while another one joins": history(
        [*elected(3), version(2, 1)],
        [FOLLOWS],
        looks=[
            *elsewhere(15),
            *(replace(each, fetched={**each.fetched, 3: each.at}) for each in elsewhere(15, 1020.5)),
        ],
    ),
    "a quorum whose voters are those of the configuration has none to write down": history(
        elected(3), [FOLLOWS], looks=elsewhere(60)
    ),
    "a quorum has become dynamic only lately": history(
        [*elected(3), later(40, version(2, 1))], [FOLLOWS], looks=elsewhere(55)
    ),
    "a vote is forgotten once the epoch has a leader, or another epoch began": history(
        [
            begin(state(UNATTACHED, 3, voted=1)),
            step(state(UNATTACHED, 3, voted=1), state(FOLLOWER, 3, 1)),
            Booted,
            begin(state(FOLLOWER, 3, 1)),
            step(state(FOLLOWER, 3, 1), state(UNATTACHED, 4, voted=2)),
            Booted,
            begin(state(UNATTACHED, 5)),
        ]
    ),
    "a node of 4.x that starts again repeats its vote in an epoch of which it knew the leader": history(
        [begin(state(FOLLOWER, 3, 1, voted=2)), Booted, begin(state(UNATTACHED, 3, voted=2)), granted(3, 2)]
    ),
    "a node that led starts again, resigned, and leads a later epoch": history(
        [*elected(3), Booted, begin(state(RESIGNED, 3)), *elected(4, start=20)[:2]]
    ),
    "a lone voter of 4.x that led starts again, and asks nobody but itself": history(
        [
            begin(of_4(RESIGNED, 3)),
            step(of_4(RESIGNED, 3), of_4(PROSPECTIVE, 3, 0)),
            step(of_4(PROSPECTIVE, 3, 0), of_4(CANDIDATE, 4)),
        ]
    ),
    "a node of 4.x whose leader went silent repeats its vote for it": history(
        [
            begin(of_4(FOLLOWER, 3, 1, voted=1)),
            step(of_4(FOLLOWER, 3, 1, voted=1), of_4(PROSPECTIVE, 3, 1, voted=1)),
            granted(3, 1),
        ]
    ),
    "a leader goes by voters that its log has named only just": history(
        [*elected(3)[:3], voters(11, 0, 1, 2, 3), counted(12, {0: 12, 1: 12, 2: 12, 3: 9})]
    ),
    "a disk that was emptied after its log's start had moved": history(
        [begins_at(50), later(60, high(60)), DiskReplaced, later(60, high(3))],
        files=[Files(0, 2000.0, segments=(0, 30, 60), snapshots=(20,))],
    ),
    "a process was killed as it moved the start of its log": history(
        [begins_at(50), Booted, high(60)], files=[Files(0, 2000.0, segments=(0, 30, 60), snapshots=(20,))]
    ),
    "a voter whose disk was emptied votes again": history(
        [begin(state(UNATTACHED, 3, voted=1)), DiskReplaced, begin(state(UNATTACHED, 0)), granted(3, 2)]
    ),
    "lines are missing behind which anything may be": history(
        [begin(state(UNATTACHED, 3)), high(9), Unseen, begin(state(UNATTACHED, 2)), high(3)]
    ),
    "a segment that was written to when the start moved to its end": history(
        [begins_at(50)], files=[Files(0, 2000.0, segments=(30, 50, 60), snapshots=(50,))]
    ),
    "a leader's clock is behind, and all fetch from it": history(
        elected(3),
        [FOLLOWS],
        looks=[by_own_clock(look(1003.0 + more, 703.0 + more, 703.0 + more), -300) for more in range(20)],
    ),
    "a voter's disk was emptied with what a leader had committed": history(
        [*elected(3), counted(100, dict.fromkeys(VOTERS, 100)), kept(90, 3)], [DiskReplaced, *elected(4, node=1)]
    ),
    "a node that lost its leader votes in the next epoch": history(
        [begin(state(FOLLOWER, 3, 1)), step(state(FOLLOWER, 3, 1), state(UNATTACHED, 4)), granted(4, 2)]
    ),
    "a process cuts off all below a snapshot that is older than what another knew": history(
        [high(100), Booted, cut(50, whole=True)]
    ),
    "a leader that was deposed follows, and cuts off what it could not commit": history(
        [*elected(3), high(11), step(state(LEADER, 3), state(FOLLOWER, 4, 1)), cut(20)], [begin(state(FOLLOWER, 3, 0))]
    ),
    "a voter votes for a log that ends where its own may": history(
        [*elected(3)], [begin(state(UNATTACHED, 3)), high(11), casts(4, 2), granted(4, 2, 3, 11)]
    ),
    "a voter votes for a shorter log of a later epoch": history(
        [begin(state(UNATTACHED, 5)), casts(5, 1), granted(5, 1, 4, 20), high(30)]
    ),
    "a voter repeats a vote that it cast before its log grew": history(
        [
            begin(state(UNATTACHED, 3)),
            casts(3, 1),
            granted(3, 1, 0, 20),
            high(30),
            granted(3, 1, 0, 20),
            Booted,
            begin(state(UNATTACHED, 3, voted=1)),
            granted(3, 1, 0, 20),
        ]
    ),
    "an epoch of which nothing was committed begins below a high watermark": history(
        [*elected(3)[:2]], [begin(state(UNATTACHED, 5)), high(12), casts(5, 2), granted(5, 2, 2, 12)]
    ),
    "a voter's disk was emptied, and it votes for a log of nothing": history(
        [
            begin(state(UNATTACHED, 3)),
            high(30),
            DiskReplaced,
            begin(state(UNATTACHED, 3)),
            casts(3, 1),
            granted(3, 1, 0, 1),
        ]
    ),
    "a leader that was asked to stop commits more, and a follower that was not yet knows it": history(
        [*elected(3), high(11)], [FOLLOWS, high(50)], over=True, ending=[high(50)]
    ),
    "a leader's log has not been read as far as what a follower knows": history(
        [*elected(3), high(11)], [FOLLOWS, high(50)]
    ),
    "lines of a leader are missing, by which it may have committed more": history(
        [*elected(3), high(11), Unseen], [FOLLOWS, high(50)], over=True
    ),
    "a build logs a leader's high watermark in other words": history([*elected(3)], [FOLLOWS, high(50)], over=True),
    "a follower has the snapshot of a leader that commits nothing in its epoch": history(
        [*elected(3), high(11)],
        [begin(state(UNATTACHED, 3, voted=0)), step(state(UNATTACHED, 3), state(FOLLOWER, 4, 2)), high(50)],
        [
            step(state(UNATTACHED, 3), state(CANDIDATE, 4)),
            step(state(CANDIDATE, 4), state(LEADER, 4, start=60, voters=frozenset({2}))),
        ],
        over=True,
    ),
    "a follower that has only heard of its leader grants a pre-vote": history(
        [
            begin(of_4(FOLLOWER, 3, 1)),
            high(11),
            step(of_4(FOLLOWER, 3, 1), of_4(FOLLOWER, 4, 2)),
            pre_granted(4, 1, 3, 11),
        ]
    ),
    "a follower that has written a snapshot, and not fetched, grants a pre-vote": history(
        [begin(of_4(FOLLOWER, 3, 1)), kept(11, 2), pre_granted(3, 2, 3, 11)]
    ),
    "a node that hears from no leader any more grants pre-votes to two": history(
        [
            begin(of_4(FOLLOWER, 3, 1)),
            high(11),
            step(of_4(FOLLOWER, 3, 1), of_4(PROSPECTIVE, 3, 1)),
            pre_granted(3, 2, 3, 11),
            pre_granted(3, 3, 3, 11),
        ]
    ),
    "a leader that resigned grants a pre-vote": history([begin(of_4(RESIGNED, 3)), pre_granted(3, 2, 3, 11)]),
    "a leader writes a snapshot": history([*elected(3), high(11), kept(11, 3)]),
    "a high watermark is lower in another process": history([high(14), Booted, high(12)]),
    "a follower cuts off an uncommitted tail": history([high(14), cut(14), high(15)]),
    "an uncommitted voter change is cut off, and another takes its place": history(
        [voters(9, 0, 1), cut(9), voters(9, 0, 2), high(10)], [voters(9, 0, 2), high(10)]
    ),
    "an uncommitted voter change gives way to a snapshot": history(
        [voters(9, 0, 1), cut(30, whole=True), high(31)], [voters(9, 0, 2), high(31)]
    ),
    "stock does not read the voters again that take the place of what was cut off": history(
        [voters(2, 0, 1, 2), voters(9, 0, 1), cut(9), high(20)],
        files=[Files(0, 2000.0, voters={2: votes(VOTERS), 9: votes({0, 2})})],
    ),
    "a node that was voted out by a change that was cut off stands": history(
        [voters(2, 0, 1, 2), voters(9, 1, 2), cut(9), step(state(UNATTACHED, 3), state(CANDIDATE, 4))]
    ),
    "voters are printed in a way that cannot be read": history(
        [voters(9, 1, 2), voters(12), step(state(UNATTACHED, 3), state(CANDIDATE, 4)), high(20)],
        [voters(12, 1, 2), high(20)],
        files=[Files(0, 2000.0, voters={12: votes({1, 2})})],
    ),
    "a process begins as the candidate that it was, and is no voter any more": history(
        [voters(9, 1, 2), begin(state(CANDIDATE, 4))]
    ),
    "a voter that no log is here for may have voted": history(elected(3), over=True),
    "a voter's log has not been read as far as its vote": history(elected(3), [begin(state(UNATTACHED, 2))], []),
    "two looks at a leader that was first looked at late": history(elected(3), [FOLLOWS], looks=SILENT[1:]),
    "one look at a silent leader, which may have been held": history(elected(3), [FOLLOWS], looks=SILENT[:2]),
    "a leader that nobody fetches from, on a host that starves it": history(
        elected(3), [FOLLOWS], looks=[replace(each, slow=float("inf")) for each in SILENT]
    ),
    "a leader that nobody fetches from, on a slow host": history(
        elected(3), [FOLLOWS], looks=[replace(each, slow=3.0) for each in SILENT]
    ),
    "a leader gives up three seconds after a fetch": history(
        [*elected(3), later(1, MajorityMissed)], [FOLLOWS], looks=[look(1004.0, 1003.0, 1002.0)]
    ),
    "a leader of five gives up soon after one fetched": history(
        [*elected(3), MajorityMissed], [FOLLOWS], looks=[look(1004.0, 1003.5, 1001.0, 1001.0, 1001.0)]
    ),
    "a leader gives up soon after its voters changed": history(
        [*elected(3), MajorityMissed],
        [FOLLOWS],
        looks=[look(1003.0, 1002.0, 1001.0, 1001.0), look(1004.0, 1003.5, 1001.0)],
    ),
    "a leader gives up that nobody looked at": history([*elected(3), MajorityMissed], [FOLLOWS]),
    "a leader whose log has not been read": history([], [FOLLOWS], looks=SILENT),
    "a leader whose voter fetches a snapshot": history(
        elected(3), [FOLLOWS, later(6, kept(5, 1, fetched=True))], looks=SILENT
    ),
    "the only voter, from whom nobody needs to fetch": history(
        elected(3), [FOLLOWS], looks=[replace(each, fetched={0: -1.0}) for each in SILENT]
    ),
    "voters that have only just been added": history(
        elected(3),
        [FOLLOWS],
        looks=[look(1009.0, 1009.0), look(1010.0, -1.0, -1.0, -1.0, -1.0), look(1012.0, -1.0, -1.0, -1.0, -1.0)],
    ),
    "files that were renamed only just": history(
        [begins_at(50)], files=[Files(0, 1003.0, segments=(0, 30, 60), snapshots=(20, 50))]
    ),
    "a snapshot of which the log below its end is gone": history(
        [high(120)],
        files=[Files(0, 2000.0, (100,), (90,), voters={110: votes({0})}, named={90: Named(votes({1}))})],
    ),
    "stock keeps voters in a snapshot that it read before their record was cut off": history(
        [voters(2, 0, 1, 2), voters(9, 0, 1), cut(9), high(20), kept(15, 1)],
        files=[Files(0, 2000.0, voters={2: votes(VOTERS)}, named={15: Named(votes({0, 1}))})],
    ),
    "a build that says nothing of the voters that it reads": history(
        [Booted, FOLLOWS_1], files=[Files(0, 2000.0, named={0: Named(votes({0, 1}))})]
    ),
    "a node starts with a later snapshot than any that it said it wrote": history(
        [Booted, voters(2, 0, 1), FOLLOWS_1, high(12), kept(9, 1), Booted, voters(10, 0, 1), FOLLOWS_1],
        files=[Files(0, 2000.0, named={9: Named(votes({0, 1})), 11: Named(votes({0, 1}))})],
    ),
    "a node whose log ends behind a snapshot that it fetches has read on": history(
        [
            Booted,
            voters(2, 0, 1),
            begin(state(FOLLOWER, 3, 1)),
            high(5),
            step(state(FOLLOWER, 3, 1), state(FOLLOWER, 4, 2)),
            cut(9, whole=True),
            high(9),
        ],
        files=[Files(0, 2000.0, named={9: Named(votes({0, 1, 2}))})],
    ),
    "a disk of before had a snapshot with other voters": history(
        [Booted, voters(2, 0, 1), FOLLOWS_1, kept(9, 1), DiskReplaced, Booted, begin(state(UNATTACHED, 0))],
        files=[Files(0, 2000.0, named={9: Named(votes({0, 1}))})],
    ),
    "voters whose hosts are printed as they were looked up": history(
        [unresolved(9, 0, 1), high(10)], files=[Files(0, 2000.0, voters={9: votes({0, 1})})]
    ),
    "a process was killed before it had written what it was about to": history(
        [
            attempt(state(FOLLOWER, 3, 1)),
            step(state(UNATTACHED, 3), state(FOLLOWER, 3, 1)),
            attempt(state(UNATTACHED, 4)),
        ],
        files=[Files(0, 2000.0, quorum=QuorumState(3, 1, -1))],
    ),
    "a node that was asked to stop stood for election": history(
        [attempt(state(FOLLOWER, 3, 1)), step(state(UNATTACHED, 3), state(FOLLOWER, 3, 1))],
        files=[Files(0, 2000.0, quorum=QuorumState(4, -1, 0))],
        ending=[attempt(state(CANDIDATE, 4)), step(state(FOLLOWER, 3, 1), state(CANDIDATE, 4))],
    ),
    "a node that is still stopping wins by the vote of one that was asked to stop": history(
        [begin(state(UNATTACHED, 2))],
        elected(3, node=1),
        [begin(state(UNATTACHED, 3))],
        over=True,
        ending=[granted(3, 1)],
    ),
    "an unattached node of 3.9 knows a leader, and does not say so": history(
        [attempt(state(UNATTACHED, 3)), begin(state(UNATTACHED, 3))],
        files=[Files(0, 2000.0, quorum=QuorumState(3, 1, -1))],
        metered=metrics(9, state="unattached", epoch=3, leader=1),
    ),
    "a follower keeps a vote that its states do not print": history(
        [
            attempt(state(UNATTACHED, 3, voted=2)),
            begin(state(UNATTACHED, 3, voted=2)),
            Booted,
            attempt(state(FOLLOWER, 3, 1)),
            begin(state(FOLLOWER, 3, 1)),
        ],
        files=[Files(0, 2000.0, quorum=QuorumState(3, 1, 2))],
    ),
    "a follower keeps a vote that it cast in lines that are missing": history(
        [begin(state(UNATTACHED, 3)), Unseen, attempt(state(FOLLOWER, 3, 1)), begin(state(FOLLOWER, 3, 1))],
        files=[Files(0, 2000.0, quorum=QuorumState(3, 1, 2))],
    ),
    "a step that is not durable leaves quorum-state as it was": history(
        [
            attempt(state(UNATTACHED, 3)),
            begin(state(UNATTACHED, 3)),
            step(state(UNATTACHED, 3), state(PROSPECTIVE, 3, of_4=True)),
        ],
        files=[Files(0, 2000.0, quorum=QuorumState(3, -1, -1))],
    ),
    "metrics of a moment in which a node takes a step": history(
        [begin(state(FOLLOWER, 3, 1)), later(9, step(state(FOLLOWER, 3, 1), state(FOLLOWER, 4, 2)))],
        metered=[
            *metrics(0, state="follower", epoch=3, leader=1),
            *metrics(0, first=1011.0, state="follower", epoch=3, leader=2),
            *metrics(2, first=1012.0, state="follower", epoch=4, leader=2),
        ],
    ),
    "metrics that are wrong for a moment, on a host that holds the raft thread": history(
        [begin(state(FOLLOWER, 3, 1))], metered=metrics(2, state="follower", epoch=4, leader=2)
    ),
    "metrics that are wrong on a host that starves nodes": history(
        [begin(state(FOLLOWER, 3, 1))], metered=metrics(60, state="follower", epoch=4), slow=float("inf")
    ),
    "two listeners hear the same, and one that is registered anew hears it again": history(
        [high(14), tells(3), tells(3, "Controller@1"), high(16), tells(14), tells(3, "Controller@2")]
    ),
    "a process that begins hands on what the one before did": history([high(14), tells(13), Booted, high(9), tells(3)]),
    "a build logs its high watermark in other words": history([tells(3), tells(9)]),
    "metrics of a process that has taken two snapshots, and appended nothing since": history(
        [begin(state(FOLLOWER, 3, 1))],
        metered=[
            *metrics(9, state="follower", epoch=3, leader=1, high_watermark=40, log_end=0),
            *metrics(9, first=1020.0, state="follower", epoch=3, leader=1, high_watermark=60, log_end=0),
        ],
    ),
    "metrics of a log that reaches the high watermark again and again": history(
        [begin(state(FOLLOWER, 3, 1))], metered=[*rising(3, log_end=8), *rising(9, first=1014.0, log_end=30)]
    ),
    "metrics of a build that do not tell where its log ends": history(
        [begin(state(FOLLOWER, 3, 1))], metered=rising(9, log_end=-1)
    ),
    "metrics of a state whose high watermarks a build logs in other words": history(
        [begin(state(FOLLOWER, 3, 1)), high(9), step(state(FOLLOWER, 3, 1), state(CANDIDATE, 4))],
        metered=metrics(9, state="candidate", epoch=4, voted=0, high_watermark=300),
    ),
    "metrics of a state that a build has of its own": history(
        [begin(state(FOLLOWER, 3, 1))], metered=metrics(9, state="shadow", epoch=3, leader=1)
    ),
    "metrics of a node whose clock is set back as it restarts": history(
        [begin(state(FOLLOWER, 3, 1)), later(-600, Booted), later(-600, begin(state(FOLLOWER, 4, 2)))],
        metered=[*metrics(9, state="follower", epoch=3, leader=1), *metrics(9, first=410.0, epoch=4, leader=2)],
    ),
    "metrics go on where a flood of lines was read no further": history(
        [begin(state(FOLLOWER, 3, 1)), Unseen], metered=metrics(60, state="leader", epoch=4, leader=0, is_active=True)
    ),
    "a controller renounces some seconds after its node resigned": history(
        [*elected(3), step(state(LEADER, 3), state(RESIGNED, 3))],
        metered=metrics(15, state="unattached", epoch=3, leader=0, is_active=True),
    ),
    "a build whose controller says nothing of being active": history([*elected(3)[:3], later(60, high(20))], over=True),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_history_is_rejected_by_its_own_rule_and_no_other(name):
    rule, forged = FORGED[name]
    assert {found.name for found in violations(forged)} == {rule}, violations(forged)


@pytest.mark.parametrize("name", FORGED)
def test_what_is_found_has_a_sentence_and_the_lines_that_show_it(name):
    _, forged = FORGED[name]
    for found in violations(forged):
        assert "node" in found.reason or "snapshot" in found.reason
        assert found.places
        assert all(0 < place.line <= len(forged.said[place.node]) for place in found.places)


@pytest.mark.parametrize("name", ALLOWED)
def test_what_only_looks_illegal_is_accepted(name):
    assert violations(ALLOWED[name]) == ()


def test_each_rule_is_broken_by_a_forged_history_and_says_who_promises_it():
    assert all(rule.source for rule in RULES)
    for rule in RULES:
        assert any(True for _, forged in FORGED.values() for _ in rule.judge(forged)), rule.judge.__name__


OFTEN = ("go_on", "go_on", "go_on", "write", "write")
HAPPENINGS = st.tuples(st.sampled_from(STEPS), st.integers(0, 4), st.integers(0, 4), st.integers(1, 9))
DEFECTS = {
    quorum_model.VOTES_TWICE: "one_vote_per_epoch",
    quorum_model.VOTES_FOR_ANY_LOG: "candidates_are_up_to_date",
    quorum_model.GRANTS_PRE_VOTES: "pre_vote_is_permitted",
    quorum_model.LEADS_ALONE: "elected_by_majority",
    quorum_model.COMMITS_ALONE: "committed_by_majority",
    quorum_model.GUESSES_COMMITTED: "followers_know_what_leaders_committed",
    quorum_model.COMMITS_EARLY: "own_epoch_committed_first",
    quorum_model.CUTS_COMMITTED: "no_truncation_of_committed",
    quorum_model.STAYS: "check_quorum",
    quorum_model.OBSERVER_STANDS: "only_voters_stand",
    quorum_model.FORGETS_EPOCH: "epoch_never_falls",
    quorum_model.FALLS_BACK: "high_watermark_never_falls",
    quorum_model.SNAPSHOT_TOO_FAR: "snapshots_are_committed",
    quorum_model.NO_VOTERS_READ: "voters_as_logged",
    quorum_model.KEEPS_SNAPSHOTS: "cleaned_below_log_start",
    quorum_model.CLAIMS_ANYHOW: "active_controller_leads",
    quorum_model.MISREADS_ENDPOINTS: "voters_as_logged",
    quorum_model.SNAPSHOT_LACKS_VOTERS: "voters_as_logged",
    quorum_model.SKIPS_SNAPSHOT: "voters_as_logged",
}


def lived(happenings, defect="", prevote=False):
    model = QuorumModel(defect, prevote)
    for each in happenings:
        happen(model, *each)
    return model


def at_random(seed, count=400):
    """Happenings that come further than by chance: mostly those who lead do, and in the end all fall silent."""
    chance = random.Random(seed)
    leader = chance.randrange(3)
    for _ in range(count):
        step_, node, other = chance.choice((*STEPS, *OFTEN)), chance.randrange(5), chance.randrange(5)
        if step_ == "elect":
            leader = node
        elif step_ in ("write", "look", "clean", "change_voters", "go_on", "snapshot") and chance.random() < 0.7:
            node = leader
        elif step_ == "fetch":
            other = leader
        yield step_, node, other, chance.randrange(1, 6)
    yield "elect", leader, leader, 1
    yield "go_on", leader, leader, 1
    for _ in range(30):
        yield "tick", 0, 0, 5
        yield "look", leader, leader, 1


@given(st.lists(HAPPENINGS, max_size=80), st.booleans())
def test_a_quorum_that_keeps_rafts_rules_breaks_none_whatever_happens_to_it(happenings, prevote):
    assert violations(lived(happenings, prevote=prevote).history()) == ()


@given(st.integers(0, 10**6), st.booleans(), st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_logs_that_were_read_up_to_different_moments_break_no_rule(seed, prevote, parts):
    model = lived(at_random(seed), prevote=prevote)
    cuts = {node: int(len(model.members[node].said) * part) for node, part in enumerate(parts)}
    assert violations(model.history(cuts)) == ()


def test_long_lives_of_quorums_break_no_rule_and_come_far():
    models = [lived(at_random(seed), prevote=seed % 2 == 1) for seed in range(150)]
    assert [violations(model.history()) for model in models if violations(model.history())] == []
    steps = sum(1 for model in models for _ in model.history().of(Transitioned))
    commits = sum(1 for model in models for _ in model.history().of(Counted))
    cuts = sum(1 for model in models for _ in model.history().of(Truncated))
    assert (steps > 5000, commits > 500, cuts > 20) == (True, True, True), (steps, commits, cuts)


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_quorum_that_breaks_a_rule_is_told_by_its_name(defect):
    names = set()
    for seed in range(400):
        names |= {found.name for found in violations(lived(at_random(seed), defect, seed % 2 == 1).history())}
        if DEFECTS[defect] in names:
            return
    pytest.fail(f"only {names} in all of 400 lives")


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        ([voters(3, 0, 1), voters(9, 0, 1, 2), cut(9)], True),
        ([voters(3, 0, 1), voters(9, 0, 1, 2), cut(10)], False),
        ([voters(3, 0, 1), voters(9, 0, 1, 2), cut(5), voters(9, 0, 1)], False),
        ([voters(3, 0, 1), cut(12, whole=True)], True),
        ([voters(3, 0, 1), cut(0), lambda place: Booted(place)], False),
        ([cut(0)], False),
    ],
    ids=["cut off", "behind them", "read again", "gave way to a snapshot", "another process", "never had any"],
)
def test_a_node_that_cut_off_its_newest_voters_has_lost_them_until_it_reads_others(said, lost):
    assert has_lost_voters(history(said).said[0]) is lost
