"""Digests of everything that decides a result: only under the same one is a result taken for another's."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from harness.base.files import sha256_of
from harness.base.json import to_json
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import inputs_of
from harness.model.proof import ChangedMethod
from harness.proof.junit import OtherRelease
from harness.stages.proof_case import ProofCase
from harness.stages.rules_digest import code_digest, digest_of, own_files_of
from harness.toolbox.java import JavaRuntime

# What tells two runtimes of one version apart: a distributor's build, a patched one.
_OF_JAVA = ("release", "lib/server/libjvm.so")


def digest_of_record(record: object) -> str:
    """Return the digest of a record, or of a mapping of records and plain values."""
    return hashlib.sha256(to_json(record).encode()).hexdigest()


def surroundings(host: Mapping[str, str], java: JavaRuntime, own_scenarios: Sequence[Path] = ()) -> Mapping[str, str]:
    """Return what decides every result alike: the harness, its libraries, the host, Java, and scenarios of one's own.

    `host` are the facts that run.json declares, how many clusters are side by side among them.
    """
    return {
        **{f"host: {name}": value for name, value in host.items()},
        "code": code_digest(),
        "libraries": libraries(),
        "java": f"{java.version} {java.home} {' '.join(files_of_java(java.java))}",
        "own scenarios": digest_of(own_files_of(own_scenarios)),
    }


def files_of_java(java: Path) -> tuple[str, ...]:
    """Return digests that tell a runtime, by its `java`, from another of its version in its place."""
    home = java.resolve().parents[1]
    return tuple(sha256_of(path) for name in _OF_JAVA if (path := home / name).is_file())


@cache
def libraries() -> str:
    """Return the digest of the names and versions of all that is installed beside the harness."""
    return digest_of_record(sorted({f"{each.name} {each.version}" for each in distributions()}))


def digest_of_runs(cells: Sequence[PlannedRun], around: Mapping[str, str]) -> str:
    """Return the digest of all that decides what the runs of one scenario show, on every arm and in every repeat."""
    return digest_of_record({"runs": [_of_run(cell) for cell in cells], "around": dict(around)})


def _of_run(cell: PlannedRun) -> Mapping[str, object]:
    return {
        "run": cell.key,
        "role": cell.role,
        "inputs": inputs_of(cell),
        "line": cell.node_parts.line,
        "flag": (cell.flag_key, cell.install.flag),
        "runtime": cell.runtime,
    }


def digest_of_proof(case: ProofCase, around: Mapping[str, str]) -> str:
    """Return the digest of all that decides what is proved of the jar: its differences, its source, the tests on it.

    Waivers are none of it: they may expire.
    """
    other, setup = case.other, case.setup
    named = [Path(name) for name in (setup.claims, setup.series) if name]
    return digest_of_record(
        {
            "jars": [*map(sha256_of, (case.jar, case.base_jar)), sha256_of(case.before) if case.before else ""],
            "beside": case.candidate.kafka.others or {path.name: sha256_of(path) for path in case.distribution.others},
            "build": [case.candidate.name, case.candidate.builder],
            "sources": digest_of([case.sources]) if case.sources else "",
            "release": sha256_of(case.release.sources) if case.release else "",
            "claims and series": [digest_of([place]) for place in named],
            "built series": digest_of([case.built_series]) if case.built_series else "",
            "binding": case.binding,
            "scope": case.scope,
            "tests": [(path.name, sha256_of(path)) for path in case.tests],
            "other": [other.release, *map(sha256_of, other.jars)] if isinstance(other, OtherRelease) else [str(other)],
            "line": case.line,
            "compilers": [compiler.label for compiler in case.compilers],
            "around": dict(around),
        }
    )


def digest_of_reach(
    cells: Sequence[PlannedRun],
    jars: Sequence[Path],
    sources: Path,
    series: Path | None,
    methods: Sequence[ChangedMethod],
    tools: Sequence[Path],
    around: Mapping[str, str],
) -> str:
    """Return the digest of all that decides which changed lines and methods runs reach.

    `jars` are base's and the candidate's, `sources` the candidate's, which need not be there, `tools` what measures.
    """
    return digest_of_record(
        {
            "runs": [_of_run(cell) for cell in cells],
            "jars": [sha256_of(jar) for jar in jars],
            "sources": digest_of([sources]),
            "series": digest_of([series]) if series else "",
            "methods": sorted(to_json(method) for method in methods),
            "tools": [sha256_of(tool) for tool in tools],
            "around": dict(around),
        }
    )
