"""What an operator does on the real cluster, in the turns and with the checks of the rehearsal, as a record; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from harness.cluster.node import STOP_TIMEOUT_SECONDS
from harness.model.arms import ABSENT, Arm, Build
from harness.model.features import FeaturePlan
from harness.model.rollout import CheckResult, Rehearsal, RolloutOutcome, RolloutVerdict, Turn
from harness.rollout.client_security import topology_of
from harness.rollout.finalising import describe_call, downgrade_call, upgrade_call
from harness.rollout.health import AFTER, AFTER_SECONDS, BEFORE, BEFORE_SECONDS, PREFERRED_LEADERS, RollCheck
from harness.rollout.nodes import First, choice_of, usual_order
from harness.rollout.rehearsals import BACK, CONTROL, FINALISED, FORWARD, FORWARD_AND_BACK, RESTART_FINALISED
from harness.rollout.script_calls import ELECTION, IN_SHELL, ScriptCall, in_shell, with_config

HOME = "/opt/kafka"
IDS_AGREE = "the topic ids on every broker's disks are those of the cluster"
RAFT = "kafka-raft"
_TELLING_NAME = re.compile(r"[\w.+-]+\.jar", re.ASCII)  # it stands in a shell script
_BY_HAND = "systemctl is-active kafka   # on every node"
_ELECTED = "“Successfully completed leader election (PREFERRED) for partitions …”, or nothing where none was needed"


@dataclass(frozen=True, slots=True)
class Command:
    """A script of Kafka's as an operator types it, and as a shell script has it; `name` is for what it prints.

    `printed` is what it printed in the rehearsal, None where it was not run.
    """

    name: str
    text: str
    in_shell: str
    printed: str | None


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a check list: what must be so, how to look, what is then to be seen, how long it took to come.

    Where no script of Kafka's says it, there is no `asked`, and a `check` of the runbook's script is its own.
    """

    number: str
    check: RollCheck
    asked: Command | None
    expect: str
    waited_seconds: float

    @property
    def description(self) -> str:
        """What must be so."""
        return self.check.description

    @property
    def command(self) -> str:
        """What an operator types."""
        return self.asked.text if self.asked else _BY_HAND

    @property
    def printed(self) -> str | None:
        """What that printed in the rehearsal, None where it was not run."""
        return self.asked.printed if self.asked else None


@dataclass(frozen=True, slots=True)
class Way:
    """In which order nodes have their turns: `choice` says it, with its reason; `order` are node ids of the user's."""

    choice: str
    first: First
    order: tuple[int, ...]
    controllers: tuple[int, ...]
    brokers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Leaders:
    """How the preferred leaders are elected after the last turn, what that prints, and the check that they lead."""

    election: Command
    expect: str
    check: Item


@dataclass(frozen=True, slots=True)
class NodeTurn:
    """One node's turn, as it was rehearsed."""

    number: int
    node: int
    roles: str
    down_seconds: float
    pause_seconds: float
    pausing: str


@dataclass(frozen=True, slots=True)
class Added:
    """The file of a raft jar that is not its Kafka's own, and the name under which it is installed there."""

    file: str
    name: str


@dataclass(frozen=True, slots=True)
class Swap:
    """What is replaced: versions of both sides, a jar by which they are told apart, and its digests.

    That is the raft jar; of Kafkas with one raft jar another. With `whole` all of Kafka is replaced: `base_home` and
    `candidate_home` are folders in which both may lie side by side, `base_added` and `candidate_added` the raft jars
    that have to be put into them, None where a Kafka has its own; `base_named` and `candidate_named` are how commands
    of the harness name them. `setting` is what the candidate was rehearsed with in server.properties, as `key=value`,
    empty where it needs nothing.
    """

    whole: bool
    base: str
    candidate: str
    base_jar: str
    candidate_jar: str
    base_sha256: str
    candidate_sha256: str
    base_home: str
    candidate_home: str
    base_named: str = ""
    candidate_named: str = ""
    base_added: Added | None = None
    candidate_added: Added | None = None
    setting: str = ""

    @property
    def module(self) -> str:
        """What the jar is called but for its version: `kafka-raft`."""
        return module_of(self.base_jar)


@dataclass(frozen=True, slots=True)
class Finish:
    """How the features are finalised when all is rolled, and how it is seen what going back then means."""

    plan: FeaturePlan
    described: Command
    upgrade: Command
    downgrade: Command
    restarts: tuple[NodeTurn, ...]


@dataclass(frozen=True, slots=True)
class Runbook:
    """All that the runbook says. Without turns nothing was rehearsed to go by.

    `config` is the file that commands are given, empty where they need none, and `secured` says what of it was
    rehearsed. `budget_seconds` is how long a client may wait, 0 where that is not known, `known_errors` are templates
    of ERROR lines that base's own restart writes. `ids_first` says that topic ids are to be checked before any turn.
    """

    swap: Swap
    way: Way
    config: str
    secured: str
    passed: bool
    reasons: tuple[str, ...]
    before: tuple[Item, ...]
    after: tuple[Item, ...]
    leaders: Leaders
    stops: tuple[str, ...]
    budget_seconds: float
    known_errors: tuple[str, ...]
    forward: tuple[NodeTurn, ...]
    back: tuple[NodeTurn, ...]
    warnings: tuple[str, ...]
    finish: Finish | None = None
    ids_first: bool = False


def runbook(found: RolloutVerdict) -> Runbook:
    """Return the runbook of a rollout."""
    rehearsed = next((each for each in found.rehearsals if each.name == FORWARD_AND_BACK), None)
    turns = rehearsed.turns if rehearsed else ()
    control = next((each for each in found.rehearsals if each.name == CONTROL), None)
    commands = _Commands(found)
    return Runbook(
        _swap(found),
        _way(found),
        found.plan.command_config,
        _secured(found),
        found.outcome is RolloutOutcome.PASSED,
        found.reasons,
        _items("B", BEFORE, turns, commands),
        _items("A", AFTER, turns, commands),
        Leaders(commands.of(ELECTION), _ELECTED, _item("L1", PREFERRED_LEADERS, (), commands)),
        _stops(rehearsed),
        rehearsed.budget_seconds if rehearsed else 0.0,
        tuple(control.errors) if control else (),
        _turns(turns, FORWARD),
        _turns(turns, BACK),
        tuple(dict.fromkeys(note for each in found.rehearsals for note in each.notes)),
        _finish(found, commands),
        found.knows_zookeeper,
    )


class _Commands:
    """Kafka's scripts with the options that base's have, and what they printed in the rehearsals."""

    def __init__(self, found: RolloutVerdict) -> None:
        self._options = found.config_options
        self._needs_config = bool(found.plan.command_config)
        self._printed = {
            tried.command: tried.output for each in found.rehearsals for tried in each.commands if tried.agrees
        }

    def of(self, call: ScriptCall) -> Command:
        """Return a command."""
        text = with_config(call, self._options) if self._needs_config else call.text()
        name = "-".join(re.findall("[a-z]+", f"{call.script.removesuffix('.sh')} {call.arguments}"))
        shown = text.format(**IN_SHELL, config='"$COMMAND_CONFIG"')
        return Command(name, shown, in_shell(call, self._options), self._printed.get(text))


def _way(found: RolloutVerdict) -> Way:
    plan, topology = found.plan, topology_of(found.plan)
    usual = usual_order(whole_kafkas=found.is_whole)
    return Way(
        choice_of(plan.order, plan.first, whole_kafkas=found.is_whole),
        First(plan.first) if plan.first else usual,
        plan.order,
        topology.voter_ids,
        topology.broker_ids,
    )


def _secured(found: RolloutVerdict) -> str:
    """Return what of a user's file was rehearsed, and what was not."""
    plan = found.plan
    if plan.security is None:
        return ""
    return (
        f"Nodes, clients and commands of the rehearsal spoke {plan.security.in_kafkas_terms}, as {plan.command_config} "
        "says, with certificate, user and password of their own: your certificates, host names, users and ACLs were "
        "not rehearsed. The same file must do for brokers and for controllers."
    )


def _swap(found: RolloutVerdict) -> Swap:
    base, candidate = found.base.build, found.candidate.build
    whole = found.is_whole
    jars = told_apart_by(base, candidate) if whole else (_raft_jar(base), _raft_jar(base))
    return Swap(
        whole,
        base.kafka_version,
        candidate.kafka_version,
        *jars,
        _installed(base)[jars[0]],
        _installed(candidate)[jars[1]] if whole else candidate.jar_sha256,
        *_homes(base.kafka_version, candidate.kafka_version),
        base.kafka.place or base.kafka_version,
        candidate.kafka.place or candidate.kafka_version,
        _added(base) if whole else None,
        _added(candidate) if whole else None,
        _setting(found.candidate),
    )


def _setting(candidate: Arm) -> str:
    """Return what a candidate needs to have its flag as it was rehearsed; its jar's own default needs nothing."""
    flag = candidate.build.flag
    needs = flag.known and candidate.flag not in (ABSENT, flag.default.lower())
    return f"{flag.key}={candidate.flag}" if needs else ""


def told_apart_by(base: Build, candidate: Build) -> tuple[str, str]:
    """Return the names of a jar whose digest differs between two whole Kafkas: the raft jar, or a module of Kafka's.

    Where no jar that both have differs, it is the raft jar all the same.
    """
    before, after = _installed(base), _installed(candidate)
    of_base = {module_of(name): name for name in before if _TELLING_NAME.fullmatch(name)}
    pairs = [(of_base.get(module_of(name), ""), name) for name in after if _TELLING_NAME.fullmatch(name)]
    differing = [(old, new) for old, new in pairs if old and before[old] != after[new]]
    return min(differing, key=_telling, default=(_raft_jar(base), _raft_jar(candidate)))


def _telling(pair: tuple[str, str]) -> tuple[bool, bool, str]:
    module = module_of(pair[1])
    return module != RAFT, not module.startswith("kafka"), module


def module_of(jar: str) -> str:
    """Return what a jar is called but for its version: `kafka_2.13` for kafka_2.13-3.9.1.jar."""
    return re.sub(r"-\d.*$|\.jar$", "", jar)


def _installed(build: Build) -> Mapping[str, str]:
    """Return the digests of all jars that a node runs, by the names under which they are installed."""
    return {**build.kafka.others, _raft_jar(build): build.jar_sha256}


def _raft_jar(build: Build) -> str:
    """Return under which name the raft jar is installed: its Kafka's own, whatever the given file is called."""
    return build.kafka.raft_jar or PurePath(build.jar).name


def _added(build: Build) -> Added | None:
    if build.kafka.jars.get(build.kafka.raft_jar) == build.jar_sha256:
        return None
    return Added(PurePath(build.jar).name, _raft_jar(build))


def _homes(base: str, candidate: str) -> tuple[str, str]:
    """Return a folder for each; a vendor's Kafka may be of the very version that it replaces."""
    ends = ("-base", "-new") if base == candidate else ("", "")
    return f"{HOME}-{base}{ends[0]}", f"{HOME}-{candidate}{ends[1]}"


def _finish(found: RolloutVerdict, commands: _Commands) -> Finish | None:
    """Return how features are finalised, None where that changes nothing."""
    plan = found.features
    if plan is None or not plan.changes:
        return None
    rehearsed = next((each for each in found.rehearsals if each.name == FINALISED), None)
    restarts = _turns(rehearsed.turns, RESTART_FINALISED) if rehearsed else ()
    described, upgrade, downgrade = map(commands.of, (describe_call(), upgrade_call(plan), downgrade_call(plan)))
    return Finish(plan, described, upgrade, downgrade, restarts)


def _items(letter: str, checks: Sequence[RollCheck], turns: Iterable[Turn], commands: _Commands) -> tuple[Item, ...]:
    seen = [check for turn in turns for check in (turn.before if letter == "B" else turn.after)]
    return tuple(_item(f"{letter}{number}", check, seen, commands) for number, check in enumerate(checks, 1))


def _item(number: str, check: RollCheck, seen: Iterable[CheckResult], commands: _Commands) -> Item:
    waited = max((each.seconds for each in seen if each.name == check.name), default=0.0)
    asked = commands.of(check.call) if check.call else None
    return Item(number, check, asked, check.expect.format(node="N"), waited)


def _stops(rehearsed: Rehearsal | None) -> tuple[str, ...]:
    longest = f" (rehearsed: {rehearsed.budget_seconds:g} s)" if rehearsed and rehearsed.budget_seconds else ""
    return (
        f"a check of list B is not met within {BEFORE_SECONDS} s: the node is not touched",
        f"the node does not stop within {STOP_TIMEOUT_SECONDS:g} s of SIGTERM, or crashes after its start",
        f"a check of list A is not met within {AFTER_SECONDS} s",
        "the live process does not hold the right jar open (sha256 of /proc/PID/fd/N)",
        "the new jar writes an ERROR line that base's own restart does not write, unless it only refuses a request "
        "(org.apache.kafka.common.errors)",
        f"a client waits longer than its budget{longest}",
    )


def _turns(turns: Iterable[Turn], phase: str) -> tuple[NodeTurn, ...]:
    mine = [turn for turn in turns if turn.phase == phase]
    return tuple(_turn(number, turn) for number, turn in enumerate(mine, 1))


def _turn(number: int, turn: Turn) -> NodeTurn:
    pausing, longest = max(turn.pauses.items(), key=lambda each: each[1], default=("", 0.0))
    return NodeTurn(number, turn.node, turn.roles, turn.down_seconds, longest, pausing if longest else "")
