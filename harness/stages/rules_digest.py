"""Digests of the rules by which runs are made and judged: what was found by others is found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from harness.base.paths import data_root

_CODE = Path(__file__).parents[1]
_BUILDS = data_root() / "builds"
# What decides how a run goes and what is written of it, and what decides what that means.
_RUNS = ("base", "cluster", "containers", "engine", "kafka", "logs/read", "model", "rollout", "scenario", "topicids")
_MAKING = (
    *(_CODE / name for name in (*_RUNS, "stages/run.py", "stages/rollout_inputs.py")),
    data_root() / "scenarios",
    _BUILDS / "lines",
)
_ROUNDS = tuple(_CODE / "stages" / name for name in ("rounds.py", "detecting.py"))  # what counts after which runs
_JUDGING = (*(_CODE / name for name in ("judge", "logs", "proof", "audit")), *_ROUNDS)
# Of builds/: the rest is known of stock, such as what it logs. What is asked of stock's source decides nothing.
_NO_JUDGES = ("lines", "gradle", "image", "power", "questions")


@cache
def making_digest() -> str:
    """Return the digest of whatever decides how a run goes."""
    return digest_of(_MAKING)


def making_digest_with(own_scenarios: Sequence[Path]) -> str:
    """Return the digest of whatever decides how a run goes, scenarios of the user's own among it.

    Of their folder only the Python files at its top count: a run may well be written below it.
    """
    own = own_files_of(own_scenarios)
    return digest_of_texts((making_digest(), digest_of(own))) if own else making_digest()


def own_files_of(own_scenarios: Sequence[Path]) -> list[Path]:
    """Return the files of the user's scenarios, and of the verbs beside them."""
    return [path for folder in own_scenarios for path in sorted(folder.resolve().glob("*.py"))]


@cache
def code_digest() -> str:
    """Return the digest of all of the harness, its scenarios and release lines: what no rule may be left out of."""
    return digest_of((_CODE, data_root() / "scenarios", _BUILDS / "lines"))


@cache
def judging_digest() -> str:
    """Return the digest of whatever decides what results and jars mean."""
    data = [path for path in _BUILDS.iterdir() if path.is_dir() and path.name not in _NO_JUDGES]
    return digest_of((*_JUDGING, *sorted(data)))


def digest_of_texts(texts: Iterable[str]) -> str:
    """Return a digest of texts in their order."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def digest_of(places: Iterable[Path]) -> str:
    """Return a digest of files, and of all below folders, by names and content; what Python compiles is left out."""
    made = hashlib.sha256()
    for place in places:
        below = place.rglob("*") if place.is_dir() else [place]
        files = sorted(path for path in below if path.is_file() and "__pycache__" not in path.parts)
        for path in files:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            made.update(f"{place.name}/{path.relative_to(place).as_posix()}\0{content}\n".encode())
    return made.hexdigest()
