"""A claims file drafted from what a jar changes: it loads as it is, and says what is to be edited; pure."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base.text import cut, visible
from harness.building.configdef import ConfigKey
from harness.proof.bytecode import LogStatement

_MOST_STATEMENTS = 12
_MOST_COMMENT = 1000  # characters
_WIDTH = 110
_LOUDEST_FIRST = ("ERROR", "WARN", "INFO", "DEBUG", "TRACE")
_LOGGED_BY_NODES = ("INFO", "WARN", "ERROR")  # a node's log holds DEBUG of the raft package alone
_WORD = re.compile(r"\w")
_VALUE = re.compile(r"\{\}|%[a-zA-Z]")
_TOP_LEVEL = re.compile(r"[a-z]\w*(\.[a-z]\w*)*\.[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class JarChanges:
    """What a jar changes: top-level classes (with dots) with what changed in words, new keys, new log statements."""

    classes: Mapping[str, str]
    keys: tuple[ConfigKey, ...]
    statements: tuple[LogStatement, ...]


@dataclass(frozen=True, slots=True)
class ScenarioChoice:
    """A scenario that a claim may name, with the names of its expectations."""

    name: str
    question: str
    expectations: tuple[str, ...]


def draft_claims(jar: str, base: str, changes: JarChanges, scenarios: Sequence[ScenarioChoice]) -> str:
    """Return the text of a claims file for a jar; `scenarios` are at least one, and each has an expectation."""
    statements = sorted(changes.statements, key=_usefulness)
    flag = next(filter(_may_be_the_flag, changes.keys), None)
    lines = (
        _comment(f"Claims of {jar}, drafted from how it differs from {base}."),
        _comment("Say what the jar does better, choose the scenario that shows it, and take out what is not so."),
        "",
        'jar = "kafka-raft"',
        *_keys(changes.keys, flag),
        *_classes(changes.classes),
        "",
        *_claim(changes, statements, scenarios, flag),
    )
    return "\n".join(lines) + "\n"


def _may_be_the_flag(key: ConfigKey) -> bool:
    return key.type == "BOOLEAN" and key.default in ("true", "false") and bool(key.name.strip())


def _keys(keys: Sequence[ConfigKey], flag: ConfigKey | None) -> Iterator[str]:
    if flag:
        yield f"flag = {_string(flag.name)}  # takes the change back while it is false; else take both lines out"
        yield f"flag_default = {flag.default}"
    for key in keys:
        if key is not flag:
            yield from _comments(f"new key: {key.name} ({key.type}, default {key.default or 'none'})")


def _classes(classes: Mapping[str, str]) -> Iterator[str]:
    named = [name for name in sorted(classes) if _TOP_LEVEL.fullmatch(name)]
    if named:
        yield "classes = [  # all that may change; a change in another class is then a failure"
        for name in named:
            yield from _comments(classes[name], "    ")
            yield f"    {_string(name)},"
        yield "]"


def _claim(
    changes: JarChanges, statements: Sequence[LogStatement], scenarios: Sequence[ScenarioChoice], flag: ConfigKey | None
) -> Iterator[str]:
    chosen = scenarios[0]
    failed = f"FAILED({chosen.expectations[0]})"
    owners = (*(each.owner.replace("/", ".") for each in statements), *sorted(changes.classes))
    place = next((name for each in owners if (name := each.rpartition(".")[2].strip())), "the jar")
    yield "[[claim]]"
    yield 'id = "what-it-fixes"'
    yield 'says = "In a sentence: what does the jar do that base does not?"'
    yield f"source = {_string(place)}  # the class, and the methods, that do it"
    yield f"scenario = {_string(chosen.name)}  # the first of those that there are to choose from:"
    for each in scenarios:
        failures = " or ".join(f"FAILED({name})" for name in each.expectations)
        yield from _comments(f"{each.name}, may be {failures}: {each.question}")
    yield from _evidence(statements)
    yield "[claim.expect]  # PASSED, or FAILED with the name of what is not met"
    yield f'base = "{failed}"'
    if flag:
        yield f'off = "{failed}"'
    yield 'on = "PASSED"'


def _evidence(statements: Sequence[LogStatement]) -> Iterator[str]:
    """Yield the line of evidence, where a node's log would hold one, and every other new statement as a comment."""
    chosen = next((each for each in statements if each.level in _LOGGED_BY_NODES and _WORD.search(each.text)), None)
    if chosen:
        yield f"evidence = {_string(_pattern(chosen.text))}  {_comment(f'new, at {chosen.level}')}"
        if chosen.level != "INFO":  # which is what a claim expects that does not say
            yield f'level = "{chosen.level.lower()}"'
    others = [each for each in statements if each is not chosen]
    for each in others[:_MOST_STATEMENTS]:
        yield from _comments(f"also new: {each.level} {each.owner.rpartition('/')[2]}: {each.text}")
    if len(others) > _MOST_STATEMENTS:
        yield _comment(f"and {len(others) - _MOST_STATEMENTS} more")


def _usefulness(statement: LogStatement) -> tuple[bool, int, LogStatement]:
    """Order INFO first: what is louder tells of trouble, and of what is quieter logs hold less."""
    return statement.level != "INFO", _LOUDEST_FIRST.index(statement.level), statement


def _pattern(text: str) -> str:
    """Return a regular expression that matches what a statement writes, values left open."""
    parts = (re.escape(part).replace("\\ ", " ") for part in _VALUE.split(text))
    return ".*".join(parts).removesuffix(".*") or ".*"


def _string(text: str) -> str:
    """Return a TOML string; what a jar names itself can neither end it nor act on a terminal."""
    return json.dumps(visible(text), ensure_ascii=False)


def _comments(text: str, indent: str = "") -> Iterator[str]:
    """Yield a text of any length as lines of comment, cut only where it is beyond reading."""
    mark = f"{indent}# "
    yield from textwrap.wrap(_plain(text), _WIDTH, initial_indent=mark, subsequent_indent=f"{mark}  ")


def _comment(text: str) -> str:
    return f"# {_plain(text)}"


def _plain(text: str) -> str:
    return cut(visible(" ".join(text.split())), _MOST_COMMENT)
