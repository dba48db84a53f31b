"""What a command's help says of its options, as Kafka's two parsers (jopt-simple and argparse4j) print it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.model.kafka_inventory import CommandOption

_OPTION = re.compile(r"(?:\* )? {0,2}(?P<names>--?[A-Za-z][\w.-]*(?:(?:, | [A-Z<\[][^ ]*, )--?[A-Za-z][\w.-]*)*)")
_NAME = re.compile(r"(?<![\w-])--?[A-Za-z][\w.-]*")
_MARKED_REQUIRED = re.compile(r"\* ")
_SAYS_REQUIRED = re.compile(r"REQUIRED\b(?! (?:unless|if|when))")
_DEPRECATED = re.compile(r"DEPRECATED|\(Deprecated\)")
_DEFAULT = re.compile(r"\(default: ([^)]*)\)")
_MADE_UP = re.compile(r"(?<=[a-z])-\d+$")  # perf-consumer-68379
_SUBCOMMANDS = re.compile(r"\{([\w,\s-]+)\}\s*\.\.\.")
_USAGE = re.compile(r"^usage:(.*?)(?:\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
_BRACKETED = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")


def options_in(text: str) -> tuple[CommandOption, ...]:
    """Return the options that a help describes, by the longest of its names."""
    needed = _needed_by_usage(text)
    found = {option.name: option for option in (_option(block, needed) for block in _blocks(text))}
    return tuple(found[name] for name in sorted(found))


def subcommands_in(text: str) -> tuple[str, ...]:
    """Return the commands of a command: `{info,format} ...` in its usage."""
    found = _SUBCOMMANDS.search(text)
    return tuple(re.split(r",\s*", found.group(1).strip())) if found else ()


def _blocks(text: str) -> Iterator[list[str]]:
    """Return the lines of each option: the one that it begins, and those that are indented below."""
    block: list[str] = []
    for line in text.splitlines():
        begins = _OPTION.match(line)
        if block and (begins or not line.startswith((" ", "\t"))):
            yield block
            block = []
        if begins or block:
            block.append(line)
    if block:
        yield block


def _option(lines: list[str], needed: frozenset[str]) -> CommandOption:
    first, said = _OPTION.match(lines[0]), " ".join(" ".join(lines).split())
    assert first is not None
    names = list(dict.fromkeys(_NAME.findall(first["names"])))
    name = max(names, key=lambda each: (each.startswith("--"), len(each)))
    others = tuple(each for each in names if each != name)
    required = bool(_MARKED_REQUIRED.match(lines[0]) or _SAYS_REQUIRED.search(said)) or not needed.isdisjoint(names)
    default = _DEFAULT.search(said)
    return CommandOption(name, required, _plain(default[1]) if default else "", bool(_DEPRECATED.search(said)), others)


def _plain(default: str) -> str:
    """Return a default without blanks, since words are broken where the column ends, and without a made-up number."""
    return _MADE_UP.sub("-N", re.sub(r"\s", "", default))


def _needed_by_usage(text: str) -> frozenset[str]:
    """Return the options that stand in the usage without brackets."""
    found = _USAGE.search(text)
    usage = found.group(1) if found else ""
    while (without := _BRACKETED.sub(" ", usage)) != usage:
        usage = without
    return frozenset(_NAME.findall(usage))
