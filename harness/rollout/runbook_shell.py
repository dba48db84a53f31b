"""The runbook as a shell script: the same commands, checks, limits and stop conditions, a turn at a time; pure.

What differs from runbook to runbook is written here, from the records that the Markdown is made of; what a script does
with it stands in runbook_body.sh.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.base.text import visible
from harness.cluster.node import STOP_TIMEOUT_SECONDS
from harness.rollout.health import (
    AFTER_SECONDS,
    BEFORE_SECONDS,
    LEADERS_SECONDS,
    MIN_ISR_SURVIVES,
    OF_A_STOP,
    ONE_ACTIVE_CONTROLLER,
)
from harness.rollout.in_the_way import NO_SPARE
from harness.rollout.runbook import HOME, IDS_AGREE, Command, Finish, Item, Runbook, Swap
from harness.scenario.monitors.error_lines import DURATION, FAULT, GRAVE, OF_A_TRACE, REFUSAL

_BODY = Path(__file__).with_name("runbook_body.sh")
_COMMAND_SECONDS = 30
_MASKED = re.compile(r"<\w+>|ⁿ")
_SPECIAL = re.compile(r"[][\\.^$*+?(){}|]")
_LEAST_LITERAL = 8  # a pattern with less of a template than this would excuse too much


def shell_script(book: Runbook) -> str:
    """Return the runbook as a script for a POSIX shell."""
    items = (*book.before, *book.after, book.leaders.check)
    parts = [
        *_head(book),
        *_settings(book),
        *_functions_of_the_operator(book.swap),
        *(_IDS if book.ids_first else ()),
        "",
        "# ---- What was rehearsed. ----",
        *_assigned(_facts(book)),
        "export REFUSAL GRAVE FAULT DURATION TRACE",
        "",
        *_checks({item.check.name: item for item in items}),
        *_function("elect_preferred_leaders", _asks(book.leaders.election)),
        *(_features(book.finish) if book.finish else []),
        _BODY.read_text(encoding="utf-8"),
    ]
    return "\n".join(parts)


def _head(book: Runbook) -> list[str]:
    swap = book.swap
    what = f"roll Kafka {swap.base} to {swap.candidate}" if swap.whole else f"replace {swap.base_jar}"
    return [
        "#!/bin/sh",
        f"# Runbook: {_plain(what)} node by node. runbook.md, beside this file, says the same in words.",
        "#",
        "#   sh runbook.sh                  what it would do; nothing is asked of the cluster",
        "#   sh runbook.sh check            list B for every node, once; nothing is changed",
        "#   sh runbook.sh forward          every node's turn; with NODE... only these",
        "#   sh runbook.sh back             the way back, from complete",
        "#   sh runbook.sh back NODE...     from half-way: these nodes, in this order; FAILED=NODE before it names one",
        "#                                  that runs and is sick: checked is only what its stop could harm",
        *(["#   sh runbook.sh finalise         the features, last of all; nodes are restarted"] if book.finish else []),
        "#",
        "# It asks before every turn, and stops with the reason (exit code 1) where the rehearsal would have stopped.",
        "# Lists of ids and of checks are meant to be split; what stands in single quotes is for awk or for a node.",
        "# shellcheck disable=SC2016,SC2046,SC2086",
        "set -eu",
        "",
    ]


def _settings(book: Runbook) -> list[str]:
    way = book.way
    return [
        "# ---- What is yours: say it here, in the environment, or in a file of yours that SITE names. ----",
        'case ${SITE:-} in */* | "") ;; *) SITE=./$SITE ;; esac',
        "# shellcheck source=/dev/null",
        '[ -z "${SITE:-}" ] || . "$SITE"',
        ': "${BROKERS:=broker1:9092,broker2:9092}"',
        ': "${CONTROLLERS:=controller1:9093,controller2:9093}"',
        "# What Kafka's scripts need to be let in; empty where that is nothing.",
        f': "${{COMMAND_CONFIG={_default(book.config)}}}"',
        'case $COMMAND_CONFIG in /* | "") ;; *) COMMAND_CONFIG=$PWD/$COMMAND_CONFIG ;; esac',
        "# Where Kafka's bin/ is on this machine.",
        f': "${{KAFKA:={HOME}}}"',
        *([*_NEW_KAFKA, f': "${{NEW_KAFKA:={book.swap.candidate_home}}}"'] if book.finish else []),
        "# Ids: those of the rehearsal. A node that is both is in both lists.",
        f': "${{CONTROLLER_IDS:={_listed(way.controllers)}}}"',
        f': "${{BROKER_IDS:={_listed(way.brokers)}}}"',
        "# Who comes first (brokers-first, controllers-first), or every node's id in the order of the roll.",
        f': "${{FIRST:={way.first}}}"',
        f': "${{ORDER:={_listed(way.order)}}}"',
        "# Limits in seconds, those of the rehearsal: nodes with much data take longer to stop and to catch up.",
        "# BUDGET_SECONDS is how long a client may wait in a turn; with 0 nobody is asked for it.",
        *(f': "${{{name}_SECONDS:={seconds}}}"' for name, seconds in _limits(book).items()),
        "# no: go on without asking.",
        ': "${ASK:=yes}"',
        "",
    ]


_NEW_KAFKA = ["# Where the new Kafka's bin/ is on this machine: no other script knows its features."]


def _limits(book: Runbook) -> Mapping[str, str]:
    return {
        "BEFORE": f"{BEFORE_SECONDS}",
        "STOP": f"{STOP_TIMEOUT_SECONDS:g}",
        "AFTER": f"{AFTER_SECONDS}",
        "LEADERS": f"{LEADERS_SECONDS}",
        "COMMAND": f"{_COMMAND_SECONDS}",
        "BUDGET": f"{book.budget_seconds:g}",
    }


def _functions_of_the_operator(swap: Swap) -> list[str]:
    on_node = 'ssh "kafka-$1.example.org"'
    pid = "$(systemctl show -p MainPID --value kafka)"
    run = "$(systemctl show -p InvocationID --value kafka)"
    libs, jar = f"{HOME}/libs", shlex.quote(_plain(swap.base_jar))
    if swap.whole:
        homes = f"case $2 in new) home={swap.candidate_home} ;; *) home={swap.base_home} ;; esac"
        install = f'{homes}; {on_node} ln -sfn "$home" {HOME}'
    else:
        install = f'{on_node} "cp {libs}/{jar}.$2 {libs}/{jar}.next && mv -f {libs}/{jar}.next {libs}/{jar}"'
    return [
        "# How a node is reached; each is given the node's id. These are examples:",
        "# stop it (SIGTERM), and return at once or when it has stopped",
        f"# stop_node() {{ {on_node} systemctl stop --no-block kafka; }}",
        "# put the jar in place that $2 names: new or base; by another name first, so that a process that still has",
        "# the old one open goes on with that",
        f"# install_jar() {{ {install}; }}",
        *_setting(swap),
        "# start it",
        f"# start_node() {{ {on_node} systemctl start kafka; }}",
        "# succeed if it has a process: one that is stopping still has; exit 1 where it has none, and another code, as",
        "# ssh has, where that cannot be told: the node then counts as running",
        f'# is_running() {{ [ "$({on_node} systemctl show -p MainPID --value kafka)" -gt 0 ]; }}',
        f"# print the SHA-256 of the jar {swap.module} that its live process holds open",
        f'# running_jar() {{ {on_node} \'for fd in /proc/{pid}/fd/*; do case $(readlink "$fd") in',
        f'#     */{swap.module}-[0-9]*.jar*) sha256sum <"$fd" | cut -d" " -f1; break ;; esac; done\'; }}',
        "# print the ERROR and FATAL lines since its last start, each with the line below it; fail where no line of it",
        "# can be read, be it for permissions, or since Kafka writes to server.log alone",
        f'# error_lines() {{ {on_node} \'log=$(journalctl -q -o cat _SYSTEMD_INVOCATION_ID={run}) && [ -n "$log" ] &&',
        '#     { printf "%s\\n" "$log" | grep -A 1 -E "ERROR|FATAL" || true; }\'; }',
        "# print how many seconds a client waited at most in the last $1 seconds; if it is left out, you are asked",
        "# longest_wait() { … your monitoring; }",
    ]


def _setting(swap: Swap) -> list[str]:
    if not swap.setting:
        return []
    return [f"# and with new also put {swap.setting} into server.properties: it was rehearsed so"]


_IDS = (
    "# succeed if the topic ids on every broker's disks are the cluster's, else say why not in the last line; if it is",
    "# left out, you are asked; runbook.md has how exports are made",
    "# topic_ids() { harness topic-ids check --config server.properties --merge broker-2.jsonl --merge …; }",
)


def _facts(book: Runbook) -> Mapping[str, str]:
    swap, finish = book.swap, book.finish
    status, spare = (_command_of(book.before, each.name) for each in (ONE_ACTIVE_CONTROLLER, MIN_ISR_SURVIVES))
    return {
        "ANSWER": "The rehearsal passed." if book.passed else _refusal(book),
        "REFUSED": _refusal(book),
        "CHOICE": book.way.choice,
        "CHECKS_BEFORE": " ".join(item.check.name for item in book.before),
        "CHECKS_AFTER": " ".join(item.check.name for item in book.after),
        "CHECKS_OF_A_STOP": " ".join(check.name for check in OF_A_STOP),
        "BASE_SHA256": swap.base_sha256,
        "NEW_SHA256": swap.candidate_sha256,
        "STATUS": status.name if status else "",
        "AT_MIN_ISR": spare.name if spare else "",
        "NO_SPARE": NO_SPARE.strip(),
        "KNOWN_ERRORS": "|".join(filter(None, map(_pattern, book.known_errors))),
        "REFUSAL": REFUSAL,
        "GRAVE": GRAVE,
        "FAULT": FAULT,
        "DURATION": DURATION,
        "TRACE": OF_A_TRACE,
        "STOPS": "\n".join(map(_plain, book.stops)),
        "TOLD": "\n".join(map(_plain, finish.plan.told)) if finish else "",
        "IDS_AGREE": IDS_AGREE if book.ids_first else "",
        "RAISES": finish.upgrade.name if finish else "",
        "DESCRIBES": finish.described.name if finish else "",
        "RELEASE_OF_BASE": finish.plan.release_before if finish else "",
        "FINALISE_REFUSED": "" if finish is None or finish.restarts else _NOT_FINALISED,
    }


_NOT_FINALISED = "Do not finalise: that was not rehearsed. `harness rollout` without --rehearse does so."


def _refusal(book: Runbook) -> str:
    """Return why nothing is to be rolled, empty where something is."""
    if not book.passed:
        return " ".join(["Do not roll: the rehearsal did not pass.", *(f"{_plain(each)}." for each in book.reasons)])
    return "" if book.forward and book.back else "Do not roll: forward and back were not rehearsed to their end."


def _command_of(items: Iterable[Item], name: str) -> Command | None:
    return next((item.asked for item in items if item.check.name == name), None)


def _checks(items: Mapping[str, Item]) -> list[str]:
    """Return a function for each check, which prints what is in the way, and one that says what each is."""
    said = [f"    {name}) printf '%s' {shlex.quote(item.description)} ;;" for name, item in items.items()]
    said.append("    holds_jar) printf '%s' 'the live process holds the right jar open' ;;")
    lines = ["describe() {", "    case $1 in", *said, "    esac", "}", ""]
    for name, item in items.items():
        lines += [f"# Expected: {item.expect}."]
        lines += _function(name, _check(item) if item.asked else _ALL_RUN)
    return lines


_ALL_RUN = (
    "for each in $(all_nodes); do",
    '    is_running "$each" </dev/null || printf \'node %s does not run\\n\' "$each"',
    "done | joined",
)


def _check(item: Item) -> Iterable[str]:
    command = item.asked
    assert command is not None
    yield f"{_asks(command)[0]} || return 0"
    seen = f'"$DIR/{command.name}"'
    if item.check.looks_twice:
        yield f"again {command.name} {command.in_shell} || return 0"
        seen = f'"$DIR/{command.name}.before" {seen}'
    yield f"unmet '{item.check.unmet}' {seen}"


def _features(finish: Finish) -> list[str]:
    return [
        *_function("features_described", _asks(finish.described)),
        *_function("raise_features", ("KAFKA=$NEW_KAFKA", *_asks(finish.upgrade))),
    ]


def _asks(command: Command) -> tuple[str, ...]:
    return (f"ask {command.name} {command.in_shell}",)


def _function(name: str, lines: Iterable[str]) -> list[str]:
    return [f"{name}() {{", *(f"    {line}" for line in lines), "}", ""]


def _assigned(facts: Mapping[str, str]) -> list[str]:
    return [f"{name}={shlex.quote(visible(value))}" for name, value in facts.items()]


def _pattern(template: str) -> str:
    """Return a log line's template as an extended regular expression, empty where too little of it is words."""
    literal = _MASKED.split(template)
    if sum(map(len, literal)) < _LEAST_LITERAL:
        return ""
    return ".*".join(_SPECIAL.sub(lambda found: f"\\{found.group()}", each) for each in literal)


def _default(value: str) -> str:
    """Return text as the default of a parameter within double quotes."""
    return re.sub(r'([\\"$`}])', r"\\\1", _plain(value))


def _listed(ids: Iterable[int]) -> str:
    return " ".join(map(str, ids))


def _plain(text: str) -> str:
    return visible(" ".join(text.split()))
