"""The runbook: what an operator does on the real cluster, in the turns and with the checks of the rehearsal; pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from harness.base.text import cut, visible
from harness.model.rollout import Rehearsal, RolloutOutcome, RolloutVerdict, Turn
from harness.rollout.health import AFTER, BEFORE, RollCheck
from harness.rollout.rehearsals import BACK, FORWARD, FORWARD_AND_BACK

_BROKERS, _CONTROLLERS = "$BROKERS", "$CONTROLLERS"
_MOST_LINES = 8
_MOST_WIDTH = 120
_LIBS = "/opt/kafka/libs"


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a check list: what must be so, how to look, what is then to be seen, how long it took to come.

    `printed` is what the command printed in the rehearsal, None where it was not run.
    """

    number: str
    description: str
    command: str
    expect: str
    waited_seconds: float
    printed: str | None


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
class Runbook:
    """All that the runbook says; `jar` is the file's name. Without turns nothing was rehearsed to go by."""

    jar: str
    base_sha256: str
    candidate_sha256: str
    passed: bool
    reasons: tuple[str, ...]
    before: tuple[Item, ...]
    after: tuple[Item, ...]
    stops: tuple[str, ...]
    forward: tuple[NodeTurn, ...]
    back: tuple[NodeTurn, ...]
    warnings: tuple[str, ...]


def runbook(found: RolloutVerdict) -> Runbook:
    """Return the runbook of a rollout."""
    rehearsed = next((each for each in found.rehearsals if each.name == FORWARD_AND_BACK), None)
    turns = rehearsed.turns if rehearsed else ()
    printed = {tried.command: tried.output for each in found.rehearsals for tried in each.commands if tried.agrees}
    return Runbook(
        PurePath(found.base.build.jar).name,
        found.base.build.jar_sha256,
        found.candidate.build.jar_sha256,
        found.outcome is RolloutOutcome.PASSED,
        found.reasons,
        _items("B", BEFORE, turns, printed),
        _items("A", AFTER, turns, printed),
        _stops(rehearsed),
        _turns(turns, FORWARD),
        _turns(turns, BACK),
        tuple(dict.fromkeys(note for each in found.rehearsals for note in each.notes)),
    )


def _items(
    letter: str, checks: Sequence[RollCheck], turns: Iterable[Turn], printed: Mapping[str, str]
) -> tuple[Item, ...]:
    seen = [check for turn in turns for check in (turn.before if letter == "B" else turn.after)]
    return tuple(
        Item(
            f"{letter}{number}",
            check.description,
            check.command.format(node="N", brokers=_BROKERS, controllers=_CONTROLLERS),
            check.expect.format(node="N"),
            max((each.seconds for each in seen if each.name == check.name), default=0.0),
            printed.get(check.command),
        )
        for number, check in enumerate(checks, 1)
    )


def _stops(rehearsed: Rehearsal | None) -> tuple[str, ...]:
    longest = f" (rehearsed: {rehearsed.budget_seconds:g} s)" if rehearsed and rehearsed.budget_seconds else ""
    return (
        "a check of list B is not met within a minute: the node is not touched",
        "the node does not stop within 20 s of SIGTERM, or crashes after its start",
        "a check of list A is not met within two minutes",
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


def markdown(book: Runbook) -> str:
    """Return the runbook as Markdown."""
    parts = [
        *_head(book),
        *_list("Checks B, before every turn", book.before),
        *_list("Checks A, after every turn", book.after),
        "## Stop, and take the way back, if",
        "",
        *(f"- {stop}" for stop in book.stops),
        "",
        *_steps("Forward", book.forward, f"{book.jar}.new", book.candidate_sha256),
        *_steps("The way back", book.back, f"{book.jar}.base", book.base_sha256),
        *_way_back_from_anywhere(),
        *_warnings(book),
    ]
    return visible("\n".join(parts).rstrip()) + "\n"


def _head(book: Runbook) -> list[str]:
    answer = "The rehearsal passed." if book.passed else "**Do not roll: the rehearsal did not pass.**"
    return [
        f"# Runbook: replace {book.jar} node by node",
        "",
        " ".join([answer, *(f"{_plain(reason)}." for reason in book.reasons)]),
        "",
        "Set once, with the addresses of your own cluster:",
        "",
        "```sh",
        "BROKERS=broker1:9092,broker2:9092",
        "CONTROLLERS=controller1:9093,controller2:9093",
        "```",
        "",
        "Before the first turn, on every node, keep base and lay the new jar beside it:",
        "",
        "```sh",
        f"cp {_LIBS}/{book.jar} {_LIBS}/{book.jar}.base",
        f"cp {shlex.quote(book.jar)} {_LIBS}/{book.jar}.new",
        f"sha256sum {_LIBS}/{book.jar}.base   # {book.base_sha256}",
        f"sha256sum {_LIBS}/{book.jar}.new    # {book.candidate_sha256}",
        "```",
        "",
        "Neither name ends in `.jar`: Kafka's start script puts every `libs/*.jar` on the class path.",
        "",
    ]


def _plain(text: str) -> str:
    """Return text from logs as Markdown that shows it and does nothing else."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))


def _list(title: str, items: Sequence[Item]) -> list[str]:
    lines = [f"## {title}", ""]
    for item in items:
        waited = f" In the rehearsal this took up to {item.waited_seconds:.0f} s." if item.waited_seconds >= 1 else ""
        lines += [f"- **{item.number}** {item.description}.{waited}", "", "  ```sh", f"  {item.command}", "  ```", ""]
        lines += [f"  Expected: {item.expect}.{_printed(item.printed)}", ""]
    return lines


def _printed(output: str | None) -> str:
    """Return what the command printed in the rehearsal; nothing where it was not run."""
    if output is None:
        return ""
    if not output:
        return " In the rehearsal, with all well, it printed nothing."
    quoted = "\n".join(f"      {cut(line, _MOST_WIDTH)}" for line in output.splitlines()[:_MOST_LINES])
    return f" In the rehearsal it printed:\n\n{quoted}"


def _steps(title: str, turns: Sequence[NodeTurn], file: str, sha256: str) -> list[str]:
    if not turns:
        return [f"## {title}", "", "This was not rehearsed to its end; there are no turns to follow.", ""]
    jar = file.rpartition(".")[0]
    return [
        f"## {title}",
        "",
        "For each node in this order; node ids are those of the rehearsal. Brokers come first, the active controller",
        "last: ask for it again before every controller's turn.",
        "",
        *(_line(turn) for turn in turns),
        "",
        "Each turn, on the node:",
        "",
        "```sh",
        "# checks B with the node's id",
        "systemctl stop kafka",
        f"cp {_LIBS}/{file} {_LIBS}/{jar}",
        "systemctl start kafka",
        "# checks A; and the jar that the live process holds open:",
        "PID=$(systemctl show -p MainPID --value kafka)",
        f"ls -l /proc/$PID/fd | grep {jar}",
        f"sha256sum {_LIBS}/{jar}   # {sha256}",
        "```",
        "",
    ]


def _line(turn: NodeTurn) -> str:
    waited = f"; clients waited {turn.pause_seconds:.1f} s at most ({turn.pausing})" if turn.pausing else ""
    return f"{turn.number}. node {turn.node}, {turn.roles}: back in {turn.down_seconds:.0f} s{waited}"


def _way_back_from_anywhere() -> list[str]:
    return [
        "From half-way, take the way back for the nodes that run the new jar only, the one that failed first: put base",
        "back on it and start it, then checks A; then the others, the last one rolled first, each with checks B and A.",
        "",
    ]


def _warnings(book: Runbook) -> list[str]:
    return ["## Warnings", "", *(f"- {_plain(warning)}" for warning in book.warnings), ""] if book.warnings else []
