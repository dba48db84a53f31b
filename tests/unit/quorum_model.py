"""A small model of Kafka's Raft: what nodes say in their logs, whatever happens. A defect makes it break a rule.

Nodes 0 to 2 vote at first, 3 and 4 observe and may be made voters. Every method is something that can happen, and does
nothing where it cannot. Two nodes share nothing but what a method hands from one to the other.
"""

from dataclasses import dataclass, field, replace

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
    LogStartMoved,
    Looked,
    Named,
    Place,
    PreVoteGranted,
    SnapshotKept,
    State,
    Transitioned,
    Truncated,
    VersionApplied,
    VoteGranted,
    VotersApplied,
)
from harness.cluster.metadata_log.control_records import Voter
from harness.cluster.metadata_log.files import QuorumState

FETCH_TIMEOUT = 2.0
CHECK_QUORUM = 3.0

VOTES_TWICE = "a voter forgets that it has voted"
VOTES_FOR_ANY_LOG = "a voter does not ask how far a candidate's log reaches"
GRANTS_PRE_VOTES = "a voter grants pre-votes while it hears from a leader"
LEADS_ALONE = "a candidate needs no votes but its own"
COMMITS_ALONE = "a leader commits what no follower has"
GUESSES_COMMITTED = "a follower takes all that it has for committed"
COMMITS_EARLY = "a leader commits before it has committed in its own epoch"
CUTS_COMMITTED = "a follower cuts off what is committed"
STAYS = "a leader that nobody fetches from stays"
OBSERVER_STANDS = "an observer stands for election"
FORGETS_EPOCH = "a node forgets its epoch as it restarts"
FALLS_BACK = "a follower takes a high watermark that is lower"
SNAPSHOT_TOO_FAR = "a node takes a snapshot of what is not committed"
NO_VOTERS_READ = "a follower does not read who votes"
KEEPS_SNAPSHOTS = "nothing is deleted below the start of the log"
CLAIMS_ANYHOW = "the controller of a follower is active"
MISREADS_ENDPOINTS = "every node takes the same wrong endpoint from a record"
SNAPSHOT_LACKS_VOTERS = "a snapshot does not say who votes"
SKIPS_SNAPSHOT = "nobody reads what a snapshot says of voters"


def votes(nodes, port=9):
    """Who votes, each with a directory id and an endpoint of its own."""
    return frozenset(Voter(node, f"d{node}", frozenset({("C", "h", 100 * node + port)})) for node in nodes)


@dataclass
class Entry:
    epoch: int
    voters: frozenset[int] | None = None


@dataclass
class Member:
    id: int
    log: list = field(default_factory=list)
    start: int = 0
    snapshots: list = field(default_factory=list)
    state: State | None = None
    kept: State = field(default_factory=lambda: State(UNATTACHED, 0))
    applied: list = field(default_factory=list)
    high: int = -1
    granted: set = field(default_factory=set)
    ends: dict = field(default_factory=dict)
    fetched: dict = field(default_factory=dict)
    began: float = 0.0
    claimed: bool = False
    hears: bool = False
    said: list = field(default_factory=list)
    lines: int = 0

    @property
    def runs(self):
        return self.state is not None

    @property
    def voters(self):
        return self.applied[-1][1] if self.applied else frozenset()

    def is_(self, *kinds):
        return self.runs and self.state.kind in kinds

    @property
    def last(self):
        return (self.log[-1].epoch if self.log else 0, len(self.log))

    @property
    def quorum_state(self):
        """What is written down of the newest epoch."""
        kept = self.kept
        leader = self.id if kept.kind == LEADER else kept.leader
        return QuorumState(kept.epoch, leader, self.id if kept.kind == CANDIDATE else kept.voted)

    def votes_below(self, end):
        return next(entry.voters for entry in reversed(self.log[:end]) if entry.voters is not None)


class QuorumModel:
    def __init__(self, defect="", prevote=False):
        self.defect, self.prevote = defect, prevote
        self.now = 1000.0
        self.looks = []
        first = Entry(0, frozenset((0, 1, 2)))
        self.members = {node: Member(node, [first]) for node in range(5)}
        for node in self.members:
            self.start(node)

    # What is written down.

    def _say(self, member, make, *values):
        member.lines += 1
        member.said.append(make(Place(member.id, member.lines, self.now), *values))

    def _enter(self, member, state):
        state = replace(state, of_4=self.prevote, fetch_timeout=FETCH_TIMEOUT if state.kind == FOLLOWER else 0.0)
        before, member.state, member.hears = member.state, state, False
        if state.kind not in (RESIGNED, PROSPECTIVE):
            member.kept = state
            self._say(member, Attempted, state)
        self._say(member, Transitioned, state, before)

    def _unattached(self, member, epoch, leader=-1):
        self._enter(member, State(UNATTACHED, epoch, leader=leader))

    def _apply(self, member, offset):
        entry = member.log[offset]
        if entry.voters is not None and not (self.defect == NO_VOTERS_READ and member.is_(FOLLOWER)):
            self._go_by(member, offset, entry.voters)
        if offset == 0:
            self._say(member, VersionApplied, 0, 1)

    def _go_by(self, member, offset, voters):
        member.applied.append((offset, voters))
        self._say(member, VotersApplied, offset, votes(voters, 8 if self.defect == MISREADS_ENDPOINTS else 9))

    def _load(self, member):
        """Read the newest snapshot, and the log behind it."""
        end = max(member.snapshots, default=0)
        member.applied = []
        if end > 0 and self.defect == SKIPS_SNAPSHOT:
            member.applied = [(end - 1, member.votes_below(end))]
        elif end > 0:
            self._say(member, VersionApplied, end - 1, 1)
            self._go_by(member, end - 1, member.votes_below(end))
        for offset in range(end, len(member.log)):
            self._apply(member, offset)

    def _moved(self, member, high):
        if high > member.high or (self.defect == FALLS_BACK and 0 <= high < member.high):
            member.high = high
            self._say(member, HighWatermarkMoved, high)

    # What can happen.

    def tick(self, tenths):
        self.now += tenths / 10
        for member in self.members.values():
            if member.is_(LEADER) and self._has_no_majority(member) and self.defect != STAYS:
                self._enter(member, replace(member.state, kind=RESIGNED))

    def _has_no_majority(self, leader):
        need = len(leader.voters) // 2 + (leader.id not in leader.voters)
        times = sorted((leader.fetched.get(each, -1) for each in leader.voters if each != leader.id), reverse=True)
        return need > 0 and self.now - max(leader.began, times[need - 1]) > CHECK_QUORUM

    def stand(self, node):
        member = self.members[node]
        is_voter = node in member.voters or self.defect == OBSERVER_STANDS
        if not is_voter or not member.is_(UNATTACHED, FOLLOWER, CANDIDATE, RESIGNED, PROSPECTIVE):
            return
        if self.prevote and member.is_(RESIGNED):
            self._unattached(member, member.state.epoch + 1)
        elif self.prevote and not member.is_(PROSPECTIVE):
            voted = node if member.is_(CANDIDATE) else member.state.voted
            self._enter(member, State(PROSPECTIVE, member.state.epoch, member.state.leader, voted))
        else:
            self._enter(member, State(CANDIDATE, member.state.epoch + 1))
            member.granted = {node}

    def give_up(self, node):
        """A prospective candidate that loses goes back to whom it knew."""
        member = self.members[node]
        if member.is_(PROSPECTIVE):
            self._unattached_or_follower(member)

    def _unattached_or_follower(self, member):
        state = member.state
        kind = FOLLOWER if state.leader >= 0 else UNATTACHED
        self._enter(member, replace(state, kind=kind))

    def learn(self, node, other):
        """A node hears of another's epoch, which is later than its own."""
        member, source = self.members[node], self.members[other]
        if member.runs and source.runs and source.state.epoch > member.state.epoch:
            self._unattached(member, source.state.epoch)

    def vote(self, node, candidate):
        member, asks = self.members[node], self.members[candidate]
        if not member.runs or not asks.is_(CANDIDATE) or node == candidate or node not in asks.voters:
            return
        self.learn(node, candidate)
        epoch = asks.state.epoch
        free = member.is_(UNATTACHED, PROSPECTIVE) and member.state.leader < 0 and member.state.voted < 0
        forgets = self.defect == VOTES_TWICE and member.is_(UNATTACHED)
        if member.state.epoch == epoch and (free or forgets) and self._reaches(asks, member):
            self._enter(member, replace(member.state, voted=candidate))
            self._say(member, VoteGranted, epoch, candidate, asks.last)
            asks.granted.add(node)

    def _reaches(self, asks, member):
        return asks.last >= member.last or self.defect == VOTES_FOR_ANY_LOG

    def pre_vote(self, node, candidate):
        """Whoever hears from no leader would vote for a prospective candidate."""
        member, asks = self.members[node], self.members[candidate]
        if not member.runs or not asks.is_(PROSPECTIVE) or node == candidate or node not in asks.voters:
            return
        self.learn(node, candidate)
        hears = member.is_(LEADER) or (member.is_(FOLLOWER) and member.hears)
        hears = hears and self.defect != GRANTS_PRE_VOTES
        if member.state.epoch == asks.state.epoch and not hears and self._reaches(asks, member):
            self._say(member, PreVoteGranted, asks.state.epoch, candidate, asks.last)

    def count(self, node):
        member = self.members[node]
        if not member.is_(CANDIDATE) or node not in member.voters:
            return
        enough = len(member.voters) // 2 + 1
        if len(member.granted & member.voters) < (1 if self.defect == LEADS_ALONE else enough):
            return
        state = State(LEADER, member.state.epoch, start=len(member.log), voters=member.voters)
        self._enter(member, state)
        member.ends, member.fetched, member.began, member.claimed = {}, {}, self.now, False
        member.log.append(Entry(state.epoch))

    def elect(self, node):
        """A whole election, of whoever can be reached."""
        self.stand(node)
        if self.prevote:
            self.stand(node)
        for other in self.members:
            self.vote(other, node)
        self.count(node)

    def go_on(self, node):
        """All who run fetch from a leader, and then from what that has committed."""
        for other in (*self.members, *self.members):
            self.fetch(other, node, 9)

    def write(self, node):
        member = self.members[node]
        if member.is_(LEADER):
            member.log.append(Entry(member.state.epoch))
            self._advance(member)

    def change_voters(self, node, other):
        """The leader adds a node to the voters or removes it, one change after the other."""
        member = self.members[node]
        settled = member.is_(LEADER) and member.high > member.state.start and member.applied[-1][0] < member.high
        voters = member.voters ^ {other}
        if settled and voters:
            member.log.append(Entry(member.state.epoch, voters))
            self._apply(member, len(member.log) - 1)
            self._advance(member)

    def fetch(self, node, leader, most):
        member, source = self.members[node], self.members[leader]
        if node == leader or not member.runs or not source.is_(LEADER):
            return
        if member.state.epoch > source.state.epoch:
            self.learn(leader, node)
            return
        if member.state.epoch < source.state.epoch or not member.is_(FOLLOWER):
            if member.is_(RESIGNED) and member.state.epoch == source.state.epoch:
                return
            voted = member.state.voted if self.prevote and member.state.epoch == source.state.epoch else -1
            self._enter(member, State(FOLLOWER, source.state.epoch, leader, voted))
        source.fetched[node] = self.now
        member.hears = True
        if len(member.log) < source.start:
            self._fetch_snapshot(member, source)
        elif self._alike(member, source) < len(member.log):
            self._truncate(member, self._alike(member, source))
        else:
            source.ends[node] = len(member.log)
            self._advance(source)
            self._append(member, source, most)

    @staticmethod
    def _alike(member, source):
        pairs = enumerate(zip(member.log, source.log, strict=False))
        return next((at for at, (a, b) in pairs if a.epoch != b.epoch), min(len(member.log), len(source.log)))

    def _truncate(self, member, offset, *, whole=False):
        if self.defect == CUTS_COMMITTED and member.high > 1:
            offset = min(offset, member.high - 1)
        del member.log[offset:]
        member.applied = [each for each in member.applied if each[0] < offset]
        self._say(member, Truncated, offset, whole)

    def _fetch_snapshot(self, member, source):
        end = source.start
        epoch = source.log[end - 1].epoch
        self._say(member, SnapshotKept, end, epoch, True)
        del member.log[:]
        self._say(member, Truncated, end, True)
        member.log += source.log[:end]
        member.start, member.snapshots = end, [end]
        self._load(member)
        self._moved(member, end)

    def _append(self, member, source, most):
        first = len(member.log)
        member.log += source.log[first : first + most]
        for offset in range(first, len(member.log)):
            self._apply(member, offset)
        if self.defect == GUESSES_COMMITTED:
            self._moved(member, len(member.log))
        elif source.high >= 0:
            self._moved(member, min(source.high, len(member.log)))

    def _advance(self, leader):
        ends = {each: leader.ends.get(each, -1) for each in leader.voters}
        if leader.id in ends:
            ends[leader.id] = len(leader.log)
        if not ends:
            return
        in_turn = sorted(ends.values(), reverse=True)
        reached = in_turn[0 if self.defect == COMMITS_ALONE else len(in_turn) // 2]
        enough = 0 if self.defect == COMMITS_EARLY else leader.state.start + 1
        known = [each for each in leader.said if isinstance(each, Counted)]
        is_first = not any(each.first_of == leader.state.epoch for each in known)
        mine = max((each.offset for each in known if not is_first), default=-1)
        if reached >= enough and reached > mine and (reached > leader.high or is_first):
            self._say(leader, Counted, reached, ends, leader.state.epoch if is_first else -1)
            self._moved(leader, reached)
        if leader.high > leader.state.start and not leader.claimed:
            leader.claimed = True
            self._say(leader, ControllerClaimed, leader.state.epoch)
        if leader.id not in leader.voters and leader.applied[-1][0] < leader.high:
            self._enter(leader, replace(leader.state, kind=RESIGNED))

    def resign(self, node):
        member = self.members[node]
        if member.is_(LEADER):
            self._enter(member, replace(member.state, kind=RESIGNED))

    def snapshot(self, node):
        member = self.members[node]
        end = len(member.log) if self.defect == SNAPSHOT_TOO_FAR else member.high
        if member.runs and len(member.log) >= end > max([0, *member.snapshots]):
            member.snapshots.append(end)
            self._say(member, SnapshotKept, end, member.log[end - 1].epoch)

    def clean(self, node):
        member = self.members[node]
        if member.runs and len(member.snapshots) > 1:
            member.start = member.snapshots[-1]
            self._say(member, LogStartMoved, member.start)
            if self.defect != KEEPS_SNAPSHOTS:
                member.snapshots = [member.start]

    def claim(self, node):
        member = self.members[node]
        if self.defect == CLAIMS_ANYHOW and member.is_(FOLLOWER):
            self._say(member, ControllerClaimed, member.state.epoch)

    def look(self, node):
        member = self.members[node]
        if member.is_(LEADER):
            fetched = {each: member.fetched.get(each, -1.0) for each in member.voters}
            self.looks.append(Looked(self.now, node, member.state.epoch, fetched))

    def kill(self, node):
        self.members[node].state = None

    def wipe(self, node):
        """The disk of an observer that is down is lost; that of a voter must not be (KIP-853)."""
        member = self.members[node]
        votes_anywhere = any(node in each.voters for each in self.members.values()) or any(
            entry.voters and node in entry.voters for each in self.members.values() for entry in each.log
        )
        if not member.runs and not votes_anywhere:
            said, lines = member.said, member.lines
            self.members[node] = Member(node, [Entry(0, frozenset((0, 1, 2)))], said=said, lines=lines)
            self._say(self.members[node], DiskReplaced)

    def start(self, node):
        member = self.members[node]
        if member.runs:
            return
        kept = member.kept
        self._say(member, Booted)
        member.high, member.granted = -1, {node}
        self._load(member)
        if self.defect == FORGETS_EPOCH:
            kept = State(UNATTACHED, 0)
        if kept.kind == LEADER:
            kept = replace(kept, kind=RESIGNED)
        elif kept.kind == FOLLOWER and kept.voted >= 0:
            kept = State(UNATTACHED, kept.epoch, voted=kept.voted)
        self._enter(member, kept)

    # What was seen of it.

    def history(self, cuts=None):
        """All that was said, or of each node only that before a cut."""
        cuts = cuts or {}
        said = {node: member.said[: cuts.get(node, len(member.said))] for node, member in self.members.items()}
        if cuts:
            return History(said, tuple(self.looks))
        files = [self._files(member) for member in self.members.values()]
        return History(said, tuple(self.looks), files, is_over=True)

    def _files(self, member):
        kept = {at: votes(each.voters) for at, each in enumerate(member.log) if at >= member.start and each.voters}
        named = (
            {} if self.defect == SNAPSHOT_LACKS_VOTERS else {end: member.votes_below(end) for end in member.snapshots}
        )
        return Files(
            member.id,
            self.now + 10,
            (member.start,),
            tuple(member.snapshots),
            kept,
            {0: 1} if member.start == 0 else {},
            {end: Named(votes(named.get(end, ())), 1) for end in member.snapshots},
            member.quorum_state,
        )


STEPS = [
    "tick",
    "fetch",
    "fetch",
    "fetch",
    "fetch",
    "write",
    "vote",
    "vote",
    "vote",
    "pre_vote",
    "count",
    "stand",
    "learn",
    "give_up",
    "look",
    "kill",
    "start",
    "start",
    "snapshot",
    "clean",
    "elect",
    "go_on",
    "go_on",
    "change_voters",
    "resign",
    "wipe",
    "claim",
]


def happen(model, step, node, other, most):
    """Have one thing happen; the numbers are used as far as it takes them."""
    match step:
        case "tick":
            model.tick(most)
        case "fetch":
            model.fetch(node, other, most)
        case "vote" | "pre_vote" | "learn" | "change_voters":
            getattr(model, step)(node, other)
        case _:
            getattr(model, step)(node)
