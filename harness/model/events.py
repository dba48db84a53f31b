"""The journal of a run: one typed event a line, the same for who writes it and who reads it (docs/run-directory.md).

Times are the journal's own (`Entry`); an event says only what happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from harness.model.clients import ClientReport

NO_NODE = -2  # of HostStalled: the machine's clock


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The first event: which run this is."""

    kind: ClassVar[str] = "run"
    scenario: str
    arm: str
    role: str
    repeat: int


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """The plan has entered a phase."""

    kind: ClassVar[str] = "phase"
    name: str


@dataclass(frozen=True, slots=True)
class StepChanged:
    """A step of the plan began or ended.

    `step` is `do guard expect bind background measure`, or `error` for a failure of the harness itself; `status` is
    `begin`, `done`, `met`, `unmet`, `skipped` or `failed`; `name` is that of the expectation or the measured window.
    """

    kind: ClassVar[str] = "step"
    step: str
    text: str
    status: str
    name: str = ""
    seconds: float = 0.0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A condition was looked at."""

    kind: ClassVar[str] = "sample"
    condition: str
    ok: bool
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeChanged:
    """A node's state changed (`starting ready stopping stopped killed died`); addresses are empty where it has none."""

    kind: ClassVar[str] = "node"
    node: int
    state: str
    broker: str = ""
    controller: str = ""
    pid: int = 0
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class QuorumSeen:
    """What the voters answered; `leader` is -1 when none says that it leads. Voters and observers: log end offsets."""

    kind: ClassVar[str] = "quorum"
    leader: int
    epoch: int
    high_watermark: int
    voters: Mapping[int, int] = field(default_factory=dict)
    observers: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetadataLogsRead:
    """The metadata logs of all nodes were read and compared, the leader having called all below `high_watermark`
    committed: from which offset each node's begins, and behind which it ends.
    """

    kind: ClassVar[str] = "metadata-logs"
    high_watermark: int
    starts: Mapping[int, int] = field(default_factory=dict)
    ends: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RoleChanged:
    """A node logged that it went into another state of Raft, so many seconds before its log was read.

    `role` is that of QuorumState in lower case (`unattached follower prospective candidate leader resigned`), `leader`
    whom it knows as the leader of the epoch, -1 for nobody; `line` is that of its log.
    """

    kind: ClassVar[str] = "role"
    node: int
    role: str
    epoch: int
    leader: int = -1
    ago: float = 0.0
    line: int = 0


@dataclass(frozen=True, slots=True)
class FaultChanged:
    """A fault that lasts was `begun`, was `proved` to be in effect after so many seconds, or has `ended`.

    `fault` is its verb, `proof` what a probe saw of it; `node` is -1 where it is not about a single one. `links` are
    the links between hosts, from and to, that it is about; folders of before name none.
    """

    kind: ClassVar[str] = "fault"
    fault: str
    text: str
    status: str
    seconds: float = 0.0
    proof: str = ""
    node: int = -1
    links: tuple[tuple[str, str], ...] = ()

    def after(self, change: FaultChanged) -> FaultChanged | None:
        """Return what a change leaves of this fault; None where it ends: of its node, with the last of its links."""
        if change.status != "ended" or (change.fault, change.node) != (self.fault, self.node):
            return self
        left = tuple(link for link in self.links if link not in change.links)
        if not change.links or (self.links and not left):
            return None
        return replace(self, links=left)


@dataclass(frozen=True, slots=True)
class HostStalled:
    """The host gave a node's raft thread (or, node -1, the harness itself) no processor for so long.

    Of `NO_NODE`: its clock jumped by so much.
    """

    kind: ClassVar[str] = "stall"
    node: int
    seconds: float

    @property
    def who(self) -> str:
        """Who got no processor."""
        return "the harness" if self.node < 0 else f"node {self.node}"

    @property
    def sentence(self) -> str:
        """The stall as a clause, the resource first as in `HostShort`."""
        if self.node == NO_NODE:
            return f"clock: the host's clock jumped by {self.seconds:.1f} s: it was set, or the host was suspended"
        return f"processor: the host gave {self.who} none for {self.seconds:.1f} s"


@dataclass(frozen=True, slots=True)
class HostShort:
    """The host was short of a resource: `reason` names it first (`processor: …`, `disk: …`, `memory: …`)."""

    kind: ClassVar[str] = "short"
    reason: str
    node: int = -1


@dataclass(frozen=True, slots=True)
class NodeSampled:
    """What a node took since its last sample: percent of a core, all of it and its raft I/O thread.

    `role` is `leader`, `voter` or `observer`.
    """

    kind: ClassVar[str] = "cost"
    node: int
    role: str
    cpu_percent: float
    raft_percent: float
    threads: int
    descriptors: int


@dataclass(frozen=True, slots=True)
class NodeProved:
    """What a live node was seen to run; `error` says why it could not be seen, empty when it could.

    `jars` is how many jars it holds open, `differing` those of them that base does not have, by name and digest: all
    others are base's.
    """

    kind: ClassVar[str] = "proof"
    node: int
    pid: int = 0
    jar: str = ""
    sha256: str = ""
    flag: str = ""
    java: str = ""
    error: str = ""
    jars: int = 0
    differing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadsDumped:
    """The threads of a node that hung, kept as a file of the run directory."""

    kind: ClassVar[str] = "threads"
    node: int
    file: str


@dataclass(frozen=True, slots=True)
class ErrorLogged:
    """A node wrote an ERROR or FATAL line. `on_base` says whether it ran the control's jar; `refused` whether the
    line only says that a client's request was refused, `timed` whether it only says how long something took.
    """

    kind: ClassVar[str] = "error-line"
    node: int
    line: int
    text: str
    template: str
    on_base: bool
    refused: bool
    timed: bool = False


@dataclass(frozen=True, slots=True)
class ClientSettled:
    """A client of the background load has ended: what it was promised and what is there."""

    kind: ClassVar[str] = "client"
    report: ClientReport


@dataclass(frozen=True, slots=True)
class ClientSeconds:
    """What a client was answered in each second, the first of which began `ago` seconds before this was written.

    `acknowledged` and `failed` are counts; `median_ms` and `longest_ms` are how long the answers of that second had
    taken, 0 where none came, or where the client does not know.
    """

    kind: ClassVar[str] = "client-seconds"
    client: str
    ago: float
    acknowledged: tuple[int, ...]
    failed: tuple[int, ...]
    median_ms: tuple[float, ...]
    longest_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A node's turn in a roll begins; `roles`: what the node is, `action`: `replace`, `restart` or `bring back`."""

    kind: ClassVar[str] = "turn"
    node: int
    roles: str
    action: str
    build: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A node's turn ends, in order or by a stop: the longest time that each client waited in it, in seconds."""

    kind: ClassVar[str] = "turn-end"
    pauses: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CommandTried:
    """A command of the runbook was run on the cluster at rest; `agrees` with what the protocol says."""

    kind: ClassVar[str] = "command"
    command: str
    seconds: float
    exit_code: int
    output: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class Noted:
    """Something worth knowing that decides nothing; `node` is -1 where it is about none."""

    kind: ClassVar[str] = "note"
    text: str
    node: int = -1


@dataclass(frozen=True, slots=True)
class OutcomeDecided:
    """The last event: how the run ended."""

    kind: ClassVar[str] = "outcome"
    outcome: str
    expectation: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event of another kind, such as a monitor from outside may write; readers pass it over."""

    kind: ClassVar[str] = ""
    name: str
    fields: Mapping[str, Any]


Event = (
    RunStarted
    | PhaseStarted
    | StepChanged
    | Sampled
    | NodeChanged
    | QuorumSeen
    | MetadataLogsRead
    | RoleChanged
    | FaultChanged
    | HostStalled
    | HostShort
    | NodeSampled
    | NodeProved
    | ThreadsDumped
    | ErrorLogged
    | ClientSettled
    | ClientSeconds
    | TurnStarted
    | TurnEnded
    | CommandTried
    | Noted
    | OutcomeDecided
    | Unknown
)

ENDED = ("stopped", "killed", "died")  # states of a node that runs no more


def is_of_the_plan(event: Event) -> bool:
    """Whether it is a step of the plan, or a node died; after the last of these the harness tidies up.

    A death ends the plan at once, so no step need follow it.
    """
    return isinstance(event, PhaseStarted | StepChanged | Sampled) or (
        isinstance(event, NodeChanged) and event.state == "died"
    )
