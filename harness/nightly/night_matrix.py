"""builds/matrix.toml: the verifications of a night, expanded; pure but for reading the files."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Any

import jsonschema

from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.base.toml import document_of
from harness.model.proof import TestScope
from harness.model.request import NO_CLAIMS, Request
from harness.model.setup import Profile
from harness.nightly.night import VERIFICATION

BUNDLED = "bundled"
_ARMS: Mapping[str, tuple[str, ...]] = {"both": (), "off": ("base", "off"), "on": ("base", "on")}
_PATHS = ("jar", "dist", "base_jar", "base_dist", "sources", "config")
_WORDS = ("series", "base_kafka", "base_series")
_HINT = "docs/nightly.md describes the file."


@dataclass(frozen=True, slots=True)
class Verification:
    """One combination of the matrix; `seconds` is what it is known to last, 0 where nothing is known."""

    id: str
    request: Request
    seconds: float


@dataclass(frozen=True, slots=True)
class Matrix:
    """An expanded matrix; `digest` is the SHA-256 of its file, `waivers` the file that it names."""

    verifications: tuple[Verification, ...]
    digest: str
    waivers: Path | None


def load_matrix(path: Path, environment: Mapping[str, str] = os.environ) -> Matrix:
    """Read and expand a matrix. Raises HarnessError that names the file, the place, and what is allowed there."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HarnessError(
            f"The matrix {path} cannot be read: {error.strerror}.", "Name another by --matrix."
        ) from error
    try:
        document = document_of(content)
        _check(document)
        found = expand(document, path.parent, environment)
    except ValueError as error:
        raise HarnessError(f"{path}: {error}.", _HINT) from error
    waivers = path.parent / document["waivers"] if "waivers" in document else None
    verifications = tuple(replace(each, request=replace(each.request, waivers=waivers)) for each in found)
    return Matrix(verifications, hashlib.sha256(content).hexdigest(), waivers)


def expand(document: Mapping[str, Any], folder: Path, environment: Mapping[str, str]) -> tuple[Verification, ...]:
    """Return every combination that the `[[ask]]` tables name, in their order; `folder` is what paths are relative to.

    Raises ValueError for a name that stands for nothing, for two tables that make the same verification, and for one
    whose name no folder may have.
    """
    found = tuple(
        itertools.chain.from_iterable(_combinations(document, ask, folder, environment) for ask in document["ask"])
    )
    names = [each.id for each in found]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise ValueError(f"{twins[0]} is there twice")
    if odd := next((name for name in names if not VERIFICATION.fullmatch(name)), ""):
        raise ValueError(
            f"{odd[:60]}… of {len(odd)} characters is no name of a folder: letters, digits and ._+-, "
            "200 of them at most; name a suite, or fewer scenarios in one table"
        )
    known = document.get("seconds", {})
    unknown = sorted(set(known) - set(names))
    if unknown:
        raise ValueError(f"seconds: there is no verification {unknown[0]}")
    return tuple(replace(each, seconds=float(known.get(each.id, 0))) for each in found)


def _check(document: Mapping[str, Any]) -> None:
    schema = json.loads((data_root() / "builds" / "matrix.schema.json").read_text("utf-8"))
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(document))
    if error is not None:
        raise ValueError(f"{error.json_path.removeprefix('$.')}: {error.message[:200]}")


def _combinations(
    document: Mapping[str, Any], ask: Mapping[str, Any], folder: Path, environment: Mapping[str, str]
) -> Iterator[Verification]:
    scenarios = tuple(ask.get("scenarios", ()))
    questions = ["+".join(scenarios)] if scenarios else ask.get("suites", ["bootstrap"])
    for build, flag, jvm, profile, question in itertools.product(
        ask["builds"], ask.get("flags", ["both"]), ask.get("jvms", [BUNDLED]), ask.get("profiles", ["fast"]), questions
    ):
        request = replace(
            _of_build(_named(document["builds"], "build", build), folder),
            arms=_ARMS[flag],
            java_home=_java_home(document, jvm, environment),
            profile=Profile(profile),
            scenarios=scenarios,
            suite=Request().suite if scenarios else question,
            repeats=ask.get("repeats", 1),
            soak=ask.get("soak", ""),
            simulate=ask.get("simulate", ""),
        )
        yield Verification("_".join((build, flag, jvm, profile, question)), request, 0.0)


def _of_build(table: Mapping[str, Any], folder: Path) -> Request:
    claims = table.get("claims", "")
    return Request(
        kafka_version=table.get("kafka", ""),
        claims=claims if claims in ("", NO_CLAIMS) else str(folder / claims),
        builder=table.get("builder", Request().builder),
        tests=TestScope(table.get("tests", Request().tests)),
        coverage=table.get("coverage", Request().coverage),
        git=_from(folder, table.get("git", "")),
        base_git=_from(folder, table.get("base_git", "")),
        **{key: folder / table[key] for key in _PATHS if key in table},
        **{key: table[key] for key in _WORDS if key in table},
    )


def _from(folder: Path, git: str) -> str:
    """Return URL@REF, with the path of a repository on this machine relative to the matrix."""
    url, at, ref = git.rpartition("@")
    return f"{folder / url}@{ref}" if at and url and (folder / url).is_dir() else git


def _java_home(document: Mapping[str, Any], jvm: str, environment: Mapping[str, str]) -> Path | None:
    """Return the home that a JVM's name stands for; a variable that is not set stays as it is, and fails later."""
    jvms = document.get("jvms", {})
    if jvm == BUNDLED and jvm not in jvms:
        return None
    return Path(Template(_named(jvms, "jvm", jvm)["home"]).safe_substitute(environment))


def _named(tables: Mapping[str, Any], kind: str, name: str) -> Mapping[str, Any]:
    if name not in tables:
        raise ValueError(f"ask: no {kind} is named {name}; there are: {', '.join(sorted(tables)) or 'none'}")
    table: Mapping[str, Any] = tables[name]
    return table
