"""Claims: what a patch says of itself, and what each role of an arm must show for it (`claims.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.model import Claim, Expected, Outcome, Role

_JARS = ("kafka-raft",)
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_EXPECTED = re.compile(r"HELD|REFUTED\(([a-z][a-z0-9_]*)\)")
_CLAIM_KEYS = ("id", "says", "source", "scenario", "expect")


@dataclass(frozen=True, slots=True)
class ClaimSet:
    """The claims of a candidate, and the flag that turns it off.

    `flag` is the configuration key, empty when there is none; `flag_default` is `true`, `false` or empty.
    `jar` names the module that the claims are about.
    """

    jar: str
    flag: str
    flag_default: str
    claims: tuple[Claim, ...]


def load_claims(path: Path) -> ClaimSet:
    """Read a claims file. Raises HarnessError that names the file, the key, and what is allowed there."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HarnessError(
            f"The claims file {path} cannot be read: {error.strerror}.",
            "Name another by --claims, or `--claims none` to judge without claims.",
        ) from error
    return parse_claims(content, str(path))


def parse_claims(content: bytes, where: str) -> ClaimSet:
    """Return the claims that a file's bytes hold; `where` names the file in errors, which are HarnessErrors."""
    try:
        return _claim_set(tomllib.loads(content.decode("utf-8")))
    except ValueError as error:
        raise HarnessError(f"{where}: {error}.", "docs/builders.md describes the file.") from error


def parse_expected(text: str) -> Expected:
    """Return what `HELD` or `REFUTED(name)` means. Raises ValueError for anything else."""
    found = _EXPECTED.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is neither HELD nor REFUTED(name_of_the_expectation)")
    name = found.group(1) or ""
    return Expected(Outcome.REFUTED, name) if name else Expected(Outcome.HELD)


def _claim_set(document: Mapping[str, Any]) -> ClaimSet:
    _only_keys(document, "the file", needed=("jar", "claim"), allowed=("flag", "flag_default"))
    jar = _text(document, "jar", "")
    if jar not in _JARS:
        raise ValueError(f"jar: {jar!r} is not a module that can be judged; it is one of {', '.join(_JARS)}")
    flag, default = _flag(document)
    tables = document["claim"]
    if not isinstance(tables, list):
        raise ValueError("claim: write each claim as a [[claim]] table")  # noqa: TRY004 - one kind of error
    claims = tuple(_claim(table, f"claim {number}", flag) for number, table in enumerate(tables, 1))
    _no_twins(claims)
    return ClaimSet(jar, flag, default, claims)


def _flag(document: Mapping[str, Any]) -> tuple[str, str]:
    if "flag" not in document and "flag_default" not in document:
        return "", ""
    default = document.get("flag_default")
    if not isinstance(default, bool):
        raise ValueError("flag_default: it goes with `flag` and is true or false")  # noqa: TRY004
    return _text(document, "flag", ""), "true" if default else "false"


def _claim(table: Any, where: str, flag: str) -> Claim:
    if not isinstance(table, dict):
        raise ValueError(f"{where}: write it as a [[claim]] table")  # noqa: TRY004
    _only_keys(table, where, needed=_CLAIM_KEYS)
    for key in ("id", "scenario"):
        if not _NAME.fullmatch(_text(table, key, where)):
            raise ValueError(f"{where}, {key}: {table[key]!r} is not lower-case letters, digits, - and _")
    return Claim(
        id=table["id"],
        says=_text(table, "says", where),
        scenario=table["scenario"],
        expected=_expected(table["expect"], f"{where}, expect", flag),
        source=_text(table, "source", where),
    )


def _expected(table: Any, where: str, flag: str) -> dict[Role, Expected]:
    if not isinstance(table, dict):
        raise ValueError(f"{where}: write it as a [claim.expect] table")  # noqa: TRY004
    # A claim needs its control: a candidate that holds proves nothing unless base is said to do something.
    _only_keys(table, where, needed=("base", "on"), allowed=("off",) if flag else ())
    expected = {}
    for role in Role:
        if role in table:
            try:
                expected[role] = parse_expected(_text(table, role, where))
            except ValueError as error:
                raise ValueError(f"{where}.{role}: {error}") from error
    return expected


def _only_keys(table: Mapping[str, Any], where: str, needed: tuple[str, ...], allowed: tuple[str, ...] = ()) -> None:
    missing = [key for key in needed if key not in table]
    unknown = sorted(set(table) - {*needed, *allowed})
    if missing:
        raise ValueError(f"{where} lacks {', '.join(missing)}")
    if unknown:
        raise ValueError(f"{where} has {', '.join(unknown)}; allowed are {', '.join((*needed, *allowed))}")


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}{', ' if where else ''}{key}: it is a text that is not empty")
    return value


def _no_twins(claims: tuple[Claim, ...]) -> None:
    names = [claim.id for claim in claims]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise ValueError(f"claim id {twins[0]} is used twice")
