"""Where an operator's own files name what changes: properties, alert rules, scripts; pure.

Names are looked for as people write them: keys as they are, an option on the line of its script, a metric as a bean or
as an exporter names it (`kafka_server_replicamanager_underreplicatedpartitions`), a log line by four words in a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from harness.model.operator_changes import Area, Change, OperatorChanges, Use
from harness.upgrade.changes import in_order
from harness.upgrade.metric_lines import is_kind

_MOST_USES = 5
_MOST_TEXT = 200
_KEYS_OF_BEAN = re.compile(r"\b(type|name)=([^,]+)")
# listener.name.internal.ssl.keystore.location, producer.acks, consumer.override.…, source->target.…, eu.consumer.…
_PREFIX = (
    r"(?:(?:[\w-]+(?:->[\w-]+)?\.){0,3}?(?:listener\.name\.[\w-]+(?:\.[\w-]+)?|producer|consumer|admin|override)\.)?"
)
_ALNUM, _OTHER = "[A-Za-z0-9]", "[^A-Za-z0-9]"
_APART = f"{_OTHER}+"
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_IN_A_ROW = 4  # words of a log line that a line of the operator's has to have


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file that is no comment, those that a backslash ends together with the next."""

    file: str
    number: int
    text: str
    words: frozenset[tuple[str, ...]]


Named = Callable[[Line], bool]


def with_uses(changes: OperatorChanges, files: Mapping[str, str]) -> OperatorChanges:
    """Return the changes with the lines of files, by name, that name them; of one weight these come first."""
    lines = [line for name, text in files.items() for line in _lines(name, text)]
    marked = (replace(change, used=tuple(_uses(change, lines))) for change in changes.changes)
    return replace(changes, changes=in_order(marked), files=tuple(files))


def _lines(file: str, text: str) -> Iterator[Line]:
    pending, first = "", 0
    comments = ("#", "!") if file.endswith(".properties") else ("#",)
    for number, raw in enumerate(text.splitlines(), 1):
        if not pending and raw.lstrip().startswith(comments):
            continue
        first = first if pending else number
        pending += raw.rstrip().removesuffix("\\") + (" " if raw.rstrip().endswith("\\") else "")
        if not raw.rstrip().endswith("\\"):
            yield Line(file, first, pending.strip(), _in_a_row(pending))
            pending = ""
    if pending:
        yield Line(file, first, pending.strip(), _in_a_row(pending))


def _uses(change: Change, lines: list[Line]) -> Iterator[Use]:
    names = _named(change)
    found = [line for line in lines if names(line)] if names else []
    for line in found[:_MOST_USES]:
        yield Use(line.file, line.number, line.text[:_MOST_TEXT])


def _named(change: Change) -> Named | None:
    """Return whether a line names what changes; None for what no file names."""
    if change.area is Area.CONFIGURATION:
        return None if change.by_default else _has_key(change.subject)
    if change.area is Area.COMMANDS:
        return _has_call(change)
    if change.area is Area.METRICS:
        return _has_metric(change)
    if change.area is Area.LOGS:
        return _has_text(change.subject)
    return None


def _has_call(change: Change) -> Named:
    """Return whether a line calls a script with the option, or without where that is what changes."""
    script, *more = change.subject.split(" ")
    calls = _has_words([script.removesuffix(".sh"), *more[:-1]])
    options = [_has_words([name] if name else []) for name in ("".join(more[-1:]), *change.other_names)]
    return lambda line: calls(line) and any(option(line) for option in options) is not change.by_default


def _has_words(words: list[str]) -> Named:
    patterns = [re.compile(rf"(?<![\w.-]){re.escape(word)}(?:\.sh)?(?![\w-]|\.\w)") for word in words]
    return lambda line: all(pattern.search(line.text) for pattern in patterns)


def _has_key(key: str) -> Named:
    """Return whether a line names a key, also behind what Connect, MirrorMaker and listeners put before one."""
    pattern = re.compile(rf"(?<![\w.-]){_PREFIX}{re.escape(key)}(?![\w-]|\.\w)")
    return lambda line: pattern.search(line.text) is not None


def _has_metric(change: Change) -> Named | None:
    """Return whether a line names a metric; of a bean without `name=`, as Kafka's own library has them, attributes."""
    keys = dict(_KEYS_OF_BEAN.findall(change.subject))
    domain, kind = _spelled(change.subject.partition(":")[0]), _spelled(keys.get("type", ""))
    names = "|".join(filter(None, map(_spelled, _names(change, keys))))
    if not kind:
        return None
    before, bean = rf"(?<!{_ALNUM}){domain}{_APART}", rf"(?:type{_APART})?{kind}(?!{_ALNUM})"
    if not names:
        ways = [bean]
    elif "name" in keys:
        named = rf"name{_APART}(?:{names}){_APART}type{_APART}{kind}(?!{_ALNUM})"
        ways = [rf"{bean}{_APART}(?:name{_APART})?(?:{names})(?!{_ALNUM})", named]
    else:
        ways = [rf"{bean}.*(?<!{_ALNUM})(?:{names})(?!{_ALNUM})"]
    pattern = re.compile(rf"{before}(?:{'|'.join(ways)})", re.IGNORECASE)
    return lambda line: pattern.search(line.text) is not None


def _names(change: Change, keys: Mapping[str, str]) -> list[str]:
    """Return what is named of a bean: its name, those of a family, the attributes that are gone; nothing for all."""
    if keys.get("name", "*") != "*":
        return [keys["name"]]
    if change.other_names:
        return [*change.other_names]
    listed = change.base.partition(": ")[2] if "name" in keys else "" if is_kind(change.base) else change.base
    return listed.split(", ")


def _has_text(text: str) -> Named | None:
    rows = {row for part in text.split("{}") for row in _in_a_row(part)}
    return (lambda line: not rows.isdisjoint(line.words)) if rows else None


def _in_a_row(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text)
    return frozenset(tuple(words[at : at + _IN_A_ROW]) for at in range(len(words) - _IN_A_ROW + 1))


def _spelled(name: str) -> str:
    """Return a pattern for a name as exporters spell it: `isr_shrinks_per_sec`, `isrshrinks_total`."""
    letters = re.sub(r"[^A-Za-z0-9]", "", name)
    stem = letters.removesuffix("PerSec")
    rate = "" if stem == letters else rf"(?:{_OTHER}?per{_OTHER}?sec)?"
    return rf"{_OTHER}?".join(stem) + rate
