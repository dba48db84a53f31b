"""The rehearsals: what is done to a live cluster in each, in the order in which they are run."""

from __future__ import annotations

import shutil
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError, unknown
from harness.base.files import write_text
from harness.base.json import to_json
from harness.base.processes.leftovers import end_leftovers
from harness.cluster.config import LOG_PATTERN
from harness.engine.cancel import Cancellation
from harness.engine.journal import Journal
from harness.kafka.downloads import sha256_of
from harness.model.arms import ABSENT
from harness.model.node_logs import NodeLogs, PhaseSpan
from harness.rollout.judging import decide
from harness.rollout.records import (
    BACK,
    CONTROL,
    FORWARD,
    FORWARD_AND_BACK,
    RESTART,
    Ending,
    Installed,
    RehearsalResult,
)
from harness.rollout.rehearsal import Measure, Rehearsal, Setting

SOAK_SECONDS = 10.0
# A client may wait twice as long as when base itself is restarted, but never less than this is held against a jar.
LEAST_BUDGET_SECONDS = 5.0
# Before there is a control to go by.
BUDGET_SECONDS = 15.0
_SESSION_KEY, _SESSION_MS = "broker.session.timeout.ms", "9000"
# Of a key that it does not know, Kafka tells that it is set, and not to what: it might be a secret.
_TOLD_WITHOUT_VALUE = "None"
_NEEDED_CLASS = "org/apache/kafka/raft/KafkaRaftClient.class"


@dataclass(frozen=True, slots=True)
class Kind:
    """A rehearsal: its question, what it does, and whether it is right when the roll is stopped.

    `kills` says that a node is killed in it, so that clients wait for its session to end.
    """

    question: str
    carry_out: Callable[[Rehearsal], None]
    must_stop: bool = False
    kills: bool = False


def _control(rehearsal: Rehearsal) -> None:
    rehearsal.try_commands()
    with rehearsal.phase(RESTART):
        for node in rehearsal.in_order():
            rehearsal.replace(node, rehearsal.setting.base)


def _forward_and_back(rehearsal: Rehearsal) -> None:
    candidate = with_key(rehearsal.setting.candidate, rehearsal.setting.flag_key)
    base = with_key_left(rehearsal.setting.base, candidate, rehearsal.setting.flag_key)
    with rehearsal.phase(FORWARD):
        for node in rehearsal.in_order():
            rehearsal.replace(node, candidate)
    with rehearsal.phase(BACK):
        for node in rehearsal.in_order():
            rehearsal.replace(node, base)
    told = any(node.has_logged(rehearsal.setting.flag_key) for node in rehearsal.cluster.nodes.values())
    if base.flag == _TOLD_WITHOUT_VALUE and not told:
        rehearsal.notes.append(
            f"{rehearsal.setting.flag_key} is still in server.properties of every node after the way back; base does "
            "not know it and says nothing about it: take it out before the next upgrade finds it there"
        )


def with_key(candidate: Installed, key: str) -> Installed:
    """Return the candidate with the flag written into server.properties, as an operator may well leave it there."""
    if not key or candidate.flag == ABSENT:
        return candidate
    return replace(candidate, settings={**candidate.settings, key: candidate.flag})


def with_key_left(base: Installed, candidate: Installed, key: str) -> Installed:
    """Return base with what the candidate left in server.properties, and what it then tells of the flag."""
    if key not in candidate.settings:
        return base
    flag = _TOLD_WITHOUT_VALUE if base.flag == ABSENT else candidate.settings[key]
    return replace(base, settings=candidate.settings, flag=flag)


def _half_way_and_back(rehearsal: Rehearsal) -> None:
    base, candidate = rehearsal.setting.base, rehearsal.setting.candidate
    rolled: list[int] = []
    with rehearsal.phase("forward, but for the active controller"):
        for node in rehearsal.in_order():
            if node == rehearsal.leader():
                continue
            rehearsal.replace(node, candidate)
            rolled.append(node)
    with rehearsal.phase("base leads the candidate"):
        rehearsal.soak(SOAK_SECONDS)
    with rehearsal.phase("the candidate leads base"):
        rehearsal.change_leader(candidate)
        rehearsal.soak(SOAK_SECONDS)
    # A leader that stops hands over to whoever has fetched most, the first of them by id: only when every other
    # controller runs base is it certain that base is elected.
    with rehearsal.phase("back, but for the active controller and the brokers"):
        for node in [each for each in rolled if each in rehearsal.setting.topology.voter_ids]:
            if node != rehearsal.leader():
                rehearsal.replace(node, base)
                rolled.remove(node)
    with rehearsal.phase("base leads the candidate again"):
        rehearsal.change_leader(base)
        rehearsal.soak(SOAK_SECONDS)
    with rehearsal.phase("back from half-way"):
        for node in reversed(rolled):
            rehearsal.replace(node, base)


def _killed_in_step(rehearsal: Rehearsal) -> None:
    topology, candidate = rehearsal.setting.topology, rehearsal.setting.candidate
    with rehearsal.phase("a broker is killed in its step"):
        rehearsal.replace((topology.observer_ids or topology.broker_ids)[0], candidate, killed=True)
    with rehearsal.phase("a controller is killed in its step"):
        follower = next(node for node in topology.voter_ids if node != rehearsal.leader())
        rehearsal.replace(follower, candidate, killed=True)


def _dies_on_load(rehearsal: Rehearsal) -> None:
    torn = rehearsal.folder / "dies-on-load" / rehearsal.setting.base.jar.name
    broken = replace(rehearsal.setting.candidate, name="a jar that dies on load", jar=torn, settings={})
    without_class(rehearsal.setting.candidate.jar, torn)
    with rehearsal.phase("forward with a jar that dies on load"):
        for node in rehearsal.in_order():
            rehearsal.replace(node, replace(broken, sha256=sha256_of(torn)))


def without_class(jar: Path, into: Path) -> None:
    """Copy a raft jar without the one class that no node can do without."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(jar) as whole, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as torn:
        for entry in whole.infolist():
            if entry.filename != _NEEDED_CLASS:
                with whole.open(entry) as source, torn.open(entry.filename, "w") as copy:
                    shutil.copyfileobj(source, copy)


KINDS: Mapping[str, Kind] = {
    CONTROL: Kind("Does base itself survive being restarted node by node under load?", _control),
    FORWARD_AND_BACK: Kind(
        "Does the candidate replace base node by node, and base the candidate again?", _forward_and_back
    ),
    "half-way-and-back": Kind(
        "Do both versions work side by side, whichever leads, and is there a way back from half-way?",
        _half_way_and_back,
    ),
    "killed-in-step": Kind(
        "Does a node that is killed in the middle of its step come back?", _killed_in_step, kills=True
    ),
    "dies-on-load": Kind(
        "Is a candidate that dies on load stopped at the first node, with the cluster serving?",
        _dies_on_load,
        must_stop=True,
    ),
}


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Return the rehearsals of these names, all when none is named. Raises HarnessError: did you mean …"""
    for name in names:
        if name not in KINDS:
            raise HarnessError(unknown("rehearsal", name, set(KINDS)))
    return tuple(name for name in KINDS if not names or name in names)


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What the control showed: templates of ERROR lines, and the longest that a client waited; None before it ran."""

    errors: frozenset[str]
    longest_pause_seconds: float


def budget(kind: Kind, told: float, yardstick: Yardstick | None, overlay: Mapping[str, str]) -> float:
    """Return how long a client may wait in a rehearsal, in seconds; 0 while there is nothing to go by.

    `told` is what the user allows, 0 where nothing was said. Where a node is killed, clients wait for the end of its
    session as well.
    """
    allowed = told or (max(2 * yardstick.longest_pause_seconds, LEAST_BUDGET_SECONDS) if yardstick else BUDGET_SECONDS)
    session = float(overlay.get(_SESSION_KEY, _SESSION_MS)) / 1000
    return round(allowed + (session if kind.kills else 0.0), 1)


def rehearse(
    name: str,
    setting: Setting,
    run_dir: Path,
    told_budget: float,
    yardstick: Yardstick | None,
    say: Callable[[str], None],
    cancellation: Cancellation,
) -> RehearsalResult:
    """Carry out one rehearsal and write its folder, `rehearsals/<name>`. Raises RunCancelled, HarnessError."""
    kind, folder = KINDS[name], (run_dir / "rehearsals" / name).absolute()
    folder.mkdir(parents=True)
    began = time.monotonic()
    allowed = 0.0 if name == CONTROL else budget(kind, told_budget, yardstick, setting.overlay)
    measure = Measure(allowed, yardstick.errors if yardstick else frozenset(), judge_errors=name != CONTROL)
    with Journal(folder / "journal.jsonl") as journal:
        with Rehearsal(setting, measure, folder, journal, say, cancellation) as live:
            with live.under_load():
                kind.carry_out(live)
            live.checking.errors.news()
        if problem := end_leftovers(folder / "nodes"):
            live.notes.append(problem)
        facts = replace(live.facts, must_stop=kind.must_stop)
        ending, reason = decide(facts)
        journal.write("outcome", outcome=ending, reason=reason)
    result = RehearsalResult(
        name,
        kind.question,
        ending,
        reason,
        round(time.monotonic() - began, 2),
        allowed,
        tuple(live.steps),
        facts.accounts,
        dict(sorted(live.checking.errors.counts.items())),
        (*live.notes, *((facts.starved,) if facts.starved else ())),
        tuple(live.checking.evidence),
        round(live.cluster.cpu_seconds(), 2),
        tuple(live.commands),
    )
    write_text(folder / "logs.json", to_json(_logs(name, setting, live.phases, live.cluster.names())))
    write_text(folder / "result.json", to_json(result))
    return result


def yardstick_of(control: RehearsalResult) -> Yardstick | None:
    """Return what the candidate is measured by, if the control was one."""
    if control.ending is not Ending.PASSED:
        return None
    return Yardstick(frozenset(control.errors), control.longest_pause_seconds)


def _logs(name: str, setting: Setting, phases: Sequence[PhaseSpan], names: Mapping[str, str]) -> list[NodeLogs]:
    """Say which logs the rehearsal left, and when every node was replaced once: what lies outside is not compared."""
    rolls = tuple(replace(each, name="every node once") for each in phases if each.name in (RESTART, FORWARD))
    topology = setting.topology
    return [
        NodeLogs(
            "roll",
            name,
            1,
            node,
            "voter" if node in topology.voter_ids else "observer",
            (f"rehearsals/{name}/nodes/{node}/server.log",),
            LOG_PATTERN,
            rolls,
            names,
        )
        for node in (*topology.voter_ids, *topology.observer_ids)
    ]
