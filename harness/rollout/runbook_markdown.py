"""The runbook as Markdown; pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base.text import as_markdown, cut, visible
from harness.rollout.runbook import (
    HOME,
    IDS_AGREE,
    RAFT,
    Added,
    Command,
    Finish,
    Item,
    Leaders,
    NodeTurn,
    Runbook,
    Swap,
)

_MOST_LINES = 8
_MOST_WIDTH = 120
_LIBS = f"{HOME}/libs"


def markdown(book: Runbook) -> str:
    """Return the runbook as Markdown."""
    parts = [
        *_head(book),
        *(_ids(book.swap) if book.ids_first else []),
        *_list("Checks B, before every turn", book.before),
        *_list("Checks A, after every turn", book.after),
        "## Stop, and take the way back, if",
        "",
        *(f"- {stop}" for stop in book.stops),
        "",
        *_steps("Forward", book.forward, book, _to_candidate(book.swap)),
        *_steps("The way back", book.back, book, _to_base(book.swap)),
        *_way_back_from_anywhere("Kafka" if book.swap.whole else "jar"),
        *_leaders(book.leaders),
        *(_finish(book.finish) if book.finish else []),
        *_warnings(book),
    ]
    return visible("\n".join(parts).rstrip()) + "\n"


def _head(book: Runbook) -> list[str]:
    answer = "The rehearsal passed." if book.passed else "**Do not roll: the rehearsal did not pass.**"
    swap = book.swap
    what = f"roll Kafka {swap.base} to {swap.candidate}" if swap.whole else f"replace {swap.base_jar}"
    return [
        f"# Runbook: {what} node by node",
        "",
        " ".join([answer, *(f"{as_markdown(reason)}." for reason in book.reasons)]),
        "",
        "`runbook.sh`, beside this file, does the same with the same checks, and asks before every turn.",
        "",
        "Set once, with the addresses of your own cluster:",
        "",
        "```sh",
        "BROKERS=broker1:9092,broker2:9092",
        "CONTROLLERS=controller1:9093,controller2:9093",
        *([f"COMMAND_CONFIG={shlex.quote(book.config)}"] if book.config else []),
        "```",
        "",
        *([as_markdown(book.secured), ""] if book.secured else []),
        *(_beforehand_whole(swap) if swap.whole else _beforehand_jar(swap)),
        "",
    ]


def _ids(swap: Swap) -> list[str]:
    return [
        "## Topic ids, once before the first turn",
        "",
        f"Clusters of Kafka {swap.base} are, or were, kept in ZooKeeper, where an old tool may have taken a topic's",
        "id; a broker that restarts then refuses partitions. Nothing is changed by seeing that",
        f"{IDS_AGREE}:",
        "",
        "```sh",
        "# on the host of each broker, under a name of its own",
        "harness topic-ids check --config server.properties --export broker-N.jsonl",
        "# on one of them, with --merge for each of the others",
        "harness topic-ids check --config server.properties --merge broker-N.jsonl",
        "```",
        "",
        "Where ZooKeeper wants TLS or a login, the last takes `--zookeeper-security FILE`.",
        "",
        "Expected: “Healthy: …”, exit code 0. At anything else restart no broker.",
        "",
    ]


def _beforehand_jar(swap: Swap) -> list[str]:
    jar = swap.base_jar
    return [
        "Before the first turn, on every node, keep base and lay the new jar beside it:",
        "",
        "```sh",
        f"[ -e {_LIBS}/{jar}.base ] || cp {_LIBS}/{jar} {_LIBS}/{jar}.base",
        f"cp {shlex.quote(jar)} {_LIBS}/{jar}.new",
        f"sha256sum {_LIBS}/{jar}.base   # {swap.base_sha256}",
        f"sha256sum {_LIBS}/{jar}.new    # {swap.candidate_sha256}",
        "```",
        "",
        "Neither name ends in `.jar`: Kafka's start script puts every `libs/*.jar` on the class path.",
        *_setting(swap),
    ]


def _setting(swap: Swap) -> list[str]:
    if not swap.setting:
        return []
    return [
        "",
        f"It was rehearsed with `{swap.setting}`, which is not the jar's default: put that into every node's",
        "server.properties while it is down for its turn, and take it out again on the way back.",
    ]


def _beforehand_whole(swap: Swap) -> list[str]:
    both = shlex.join((swap.base_named, swap.candidate_named))
    return [
        f"Before the first turn, on every node, unpack the new Kafka beside the old one; {HOME} is a link to the one",
        "that runs. Data directories stay where they are: nothing in them is copied or edited. What changes for your",
        f"configuration, alerts and scripts: `harness upgrade-notes {both} --mine FILE`.",
        "",
        *([*_setting(swap)[1:], ""] if swap.setting else []),
        "```sh",
        f"readlink -f {HOME}   # {swap.base_home}",
        *_adding(swap.base_added, swap.base_home),
        *_adding(swap.candidate_added, swap.candidate_home),
        f"sha256sum {swap.base_home}/libs/{swap.base_jar}   # {swap.base_sha256}",
        f"sha256sum {swap.candidate_home}/libs/{swap.candidate_jar}   # {swap.candidate_sha256}",
        "```",
    ]


def _adding(jar: Added | None, home: str) -> list[str]:
    """Return how a raft jar takes the place of the one that a Kafka came with, under the name of that."""
    if jar is None:
        return []
    placed = f"{home}/libs/{shlex.quote(jar.name)}"
    return [
        f"cp {shlex.quote(jar.file)} {placed}.next && rm {home}/libs/{RAFT}-[0-9]*.jar && mv {placed}.next {placed}"
    ]


def _list(title: str, items: Sequence[Item]) -> list[str]:
    lines = [f"## {title}", ""]
    for item in items:
        lines += _item(item)
    return lines


def _item(item: Item) -> list[str]:
    waited = f" In the rehearsal this took up to {item.waited_seconds:.0f} s." if item.waited_seconds >= 1 else ""
    return [
        *(f"- **{item.number}** {item.description}.{waited}", "", "  ```sh", f"  {item.command}", "  ```", ""),
        *(f"  Expected: {item.expect}.{_printed(item.printed)}", ""),
    ]


def _printed(output: str | None) -> str:
    """Return what the command printed in the rehearsal; nothing where it was not run."""
    if output is None:
        return ""
    if not output:
        return " In the rehearsal, with all well, it printed nothing."
    return f" In the rehearsal it printed:\n\n{_quoted(output, '      ')}"


@dataclass(frozen=True, slots=True)
class _Replacing:
    """How a node's jars are replaced: a command, and where its raft jar lies afterwards, with the digest of that."""

    command: str
    jar: str
    sha256: str


def _to_candidate(swap: Swap) -> _Replacing:
    command = _link(swap.candidate_home) if swap.whole else _copy(swap.base_jar, "new")
    return _Replacing(command, swap.candidate_jar, swap.candidate_sha256)


def _to_base(swap: Swap) -> _Replacing:
    command = _link(swap.base_home) if swap.whole else _copy(swap.base_jar, "base")
    return _Replacing(command, swap.base_jar, swap.base_sha256)


def _link(home: str) -> str:
    return f"ln -sfn {home} {HOME}"


def _copy(jar: str, suffix: str) -> str:
    return f"cp {_LIBS}/{jar}.{suffix} {_LIBS}/{jar}.next && mv -f {_LIBS}/{jar}.next {_LIBS}/{jar}"


def _steps(title: str, turns: Sequence[NodeTurn], book: Runbook, replacing: _Replacing) -> list[str]:
    if not turns:
        return [f"## {title}", "", "This was not rehearsed to its end; there are no turns to follow.", ""]
    return [
        f"## {title}",
        "",
        book.way.choice,
        "",
        "For each node in this order; node ids are those of the rehearsal. Ask who the active controller is before",
        "every controller's turn.",
        "",
        *(_line(turn) for turn in turns),
        "",
        "Each turn, on the node:",
        "",
        "```sh",
        "# checks B with the node's id",
        "systemctl stop kafka",
        replacing.command,
        "systemctl start kafka",
        "# checks A; and the jar that the live process holds open:",
        "PID=$(systemctl show -p MainPID --value kafka)",
        f"ls -l /proc/$PID/fd | grep {replacing.jar}",
        f"sha256sum {_LIBS}/{replacing.jar}   # {replacing.sha256}",
        "```",
        "",
    ]


def _line(turn: NodeTurn) -> str:
    waited = f"; clients waited {turn.pause_seconds:.1f} s at most ({turn.pausing})" if turn.pausing else ""
    back = f"back in {turn.down_seconds:.0f} s" if turn.down_seconds else "it did not come back"
    return f"{turn.number}. node {turn.node}, {turn.roles}: {back}{waited}"


def _way_back_from_anywhere(what: str) -> list[str]:
    return [
        f"From half-way, take the way back for the nodes that run the new {what} only. Those that are down come first:",
        "put base back on each and start it, and make checks A when the last of them runs. Then the one that failed,",
        "if it runs: of checks B only that a controller is active, that the other controllers are a majority and that",
        "no partition falls below min.insync.replicas. Then the others, the last one rolled first, each with checks B",
        "and A.",
        "",
    ]


def _leaders(leaders: Leaders) -> list[str]:
    return [
        "## After the last turn, forward or back",
        "",
        "Each turn has moved leaders away from their node. Make the preferred replicas lead again:",
        "",
        "```sh",
        leaders.election.text,
        "```",
        "",
        f"Expected: {leaders.expect}.{_printed(leaders.election.printed)}",
        "",
        *_item(leaders.check),
    ]


def _finish(finish: Finish) -> list[str]:
    return [
        "## Finalise the features, last of all",
        "",
        "When every node runs the new Kafka, and you will not want the old one back:",
        "",
        *(f"- {as_markdown(sentence)}" for sentence in finish.plan.told),
        "",
        "Every node runs the new Kafka, and checks B are met for every node: one that is down on base could not start",
        "any more. See at which levels the features are:",
        "",
        *_shell(finish.described),
        "Where kraft.version is finalised at 0, the voters are those of `controller.quorum.voters`. Finalising all",
        "features may make them those of the metadata log, which cannot be taken back, and which was not rehearsed.",
        "Then, by the new Kafka's own script, since no other knows its features:",
        "",
        *_command(finish.upgrade),
        "Then restart every node in the order above, with checks B and A, and elect the preferred leaders.",
        "",
        *(_line(turn) for turn in finish.restarts),
        *([""] if finish.restarts else []),
        "Whether the features could be lowered again, without changing anything:",
        "",
        *_command(finish.downgrade),
    ]


def _command(command: Command) -> list[str]:
    return [*_shell(command), *_shown(command.printed)]


def _shell(command: Command) -> list[str]:
    return ["```sh", command.text, "```", ""]


def _shown(output: str | None) -> Iterator[str]:
    if output is None:
        yield from ("This was not rehearsed.", "")
    elif output:
        yield from ("In the rehearsal it printed:", "", _quoted(output, "    "), "")


def _quoted(output: str, indent: str) -> str:
    return "\n".join(f"{indent}{cut(line, _MOST_WIDTH)}" for line in output.splitlines()[:_MOST_LINES])


def _warnings(book: Runbook) -> list[str]:
    return ["## Warnings", "", *(f"- {as_markdown(warning)}" for warning in book.warnings), ""] if book.warnings else []
