"""What a user requested on the command line, as one record."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.model.options import option
from harness.model.proof import TestScope
from harness.model.setup import NodeRuntime, Profile

MOST_REPEATS = 1000

NO_CLAIMS = "none"
NO_SERIES = "none"
DEFAULT_KAFKA = "3.9.1"
# Who logs in by an address: `https://token@host/kafka@ref`, `ssh://me:secret@host/kafka`. A name alone is none for ssh.
# And who does by a question that it ends with: `https://host/kafka.git?private_token=secret@ref`.
_LOGIN = re.compile(r"https?://[^@]*@.*@|[a-z+]+://[^/@]*:[^/@]*@|https?://[^?]*\?")


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `harness verify`, `prove` and `build`; empty or None where the user said nothing.

    `patches` are applied on top of the series (mutants). `argv` is the command that was given.
    """

    jar: Path | None = option(None, "--jar", "A finished kafka-raft jar to validate, instead of building the series.")
    dist: Path | None = option(
        None,
        "--dist",
        "A whole Kafka to validate, unpacked or as a .tgz, with its own raft jar or one built for it.",
    )
    kafka_version: str = option(
        "",
        "--kafka",
        f"Kafka version; {DEFAULT_KAFKA} if no option names one. With --base-kafka: the candidate's version.",
    )
    git: str = option(
        "", "--git", "Build from a git repository: URL@REF (tag, branch or commit), not the released sources."
    )
    series: str = option(
        "", "--series", "Which patch series of this Kafka version, where there are several; `none` to build without."
    )
    base_jar: Path | None = option(
        None, "--base-jar", "Your current kafka-raft jar as the control, instead of the raft jar of its Kafka."
    )
    base_dist: Path | None = option(
        None, "--base-dist", "Your own Kafka as the control, unpacked or as a .tgz: all its jars are used."
    )
    base_kafka: str = option("", "--base-kafka", "Apache's release of this version as the control, as it is.")
    base_git: str = option("", "--base-git", "Build the control's raft jar from a git repository: URL@REF.")
    base_series: str = option("", "--base-series", "Build the control's raft jar with this patch series.")
    claims: str = option(
        "", "--claims", "A claims.toml, or `none`; if not given, those of the built series or of the one --jar matches."
    )
    sources: Path | None = option(None, "--sources", "The Kafka checkout that --jar was built from, for the audit.")
    tests: TestScope = option(TestScope.RELATED, "--tests", "Which of upstream's raft tests to run on the jar.")
    simulate: str = option(
        "",
        "--simulate",
        "How long to run upstream's simulations on the jar, seed after seed: 60s, 10m; not at all if not given.",
    )
    coverage: bool = option(
        True,
        "--coverage",
        "Run scenarios once more to see which changed code they reach.",
        off="--no-coverage",
    )
    waivers: Path | None = option(None, "--waivers", "A waivers.toml: known differences, with reason and expiry.")
    config: Path | None = option(
        None,
        "--config",
        "Your own server properties, for every node; a scenario's override them, a rollout's do not.",
    )
    arms: tuple[str, ...] = option((), "--arms", "Only these arms, by name or role: base,patched-on.", commas=True)
    scenarios: tuple[str, ...] = option((), "--scenario", "Only this scenario; can be repeated.", short="-k")
    scenario_folders: tuple[Path, ...] = option(
        (), "--scenarios", "A folder of scenarios of your own, with their verbs; can be repeated."
    )
    suite: str = option(
        "", "--suite", "The suite of scenarios to run; if not given, `bootstrap` for a shipped series, else `standard`."
    )
    seeds: int = option(10, "--seeds", "How many schedules of faults `--suite chaos` runs, from seed 1 on.", least=1)
    repeats: int = option(
        1, "--repeats", "Runs of each scenario on each arm; all are counted.", least=1, most=MOST_REPEATS
    )
    soak: str = option(
        "",
        "--soak",
        "How long to measure idle nodes at the end of each scenario: 20s, 10m; as its plan says if not given.",
    )
    jobs: int = option(2, "--jobs", "Clusters side by side.", least=1, most=16)
    java_home: Path | None = option(None, "--java-home", "Java for nodes and javac; the bundled runtime if not given.")
    builder: str = option("auto", "--builder", "auto, javac, ecj, gradle-container or gradle-full.")
    profile: Profile = option(Profile.FAST, "--profile", "JVM settings of the nodes.")
    runtime: NodeRuntime = option(
        NodeRuntime.PROCESS, "--runtime", "What nodes run as: processes of this host, or containers of its engine."
    )
    fresh: bool = option(
        False, "--fresh", "Run everything again; take nothing over from an earlier verification of exactly the same."
    )
    profile_time: bool = option(False, "--profile-time", "Show in the report where the time went, as a Gantt chart.")
    offline: bool = option(False, "--offline", "Use only what the cache holds; never use the network.")
    patches: tuple[Path, ...] = ()
    argv: tuple[str, ...] = ()


def suite_of(request: Request, *, of_series: bool) -> str:
    """Return the suite that is run: the one that was typed, or what is asked of a candidate held to a series' claims.

    Any other's may break what no claim mentions, whatever a file claims of it.
    """
    return request.suite or ("bootstrap" if of_series else "standard")


def located(request: Request) -> Request:
    """Return the request with absolute paths: it may be gone on with from another folder."""
    return replace(
        _with_paths(request, lambda path: Path(os.path.expanduser(path)).absolute()),  # noqa: PTH111 - raises nothing
        git=_located_git(request.git),
        base_git=_located_git(request.base_git),
    )


def as_typed(request: Request) -> Request:
    """Return the request with its paths as they are best typed: relative where they lie below the working folder."""
    return _with_paths(request, _short)


def _with_paths(request: Request, change: Callable[[Path], Path]) -> Request:
    values: dict[str, Any] = {field.name: getattr(request, field.name) for field in fields(request)}
    paths: dict[str, Any] = {name: change(value) for name, value in values.items() if isinstance(value, Path)}
    claims = request.claims if request.claims in ("", NO_CLAIMS) else str(change(Path(request.claims)))
    return replace(
        request,
        **paths,
        patches=tuple(map(change, request.patches)),
        scenario_folders=tuple(map(change, request.scenario_folders)),
        claims=claims,
    )


def _short(path: Path) -> Path:
    try:
        return path.absolute().relative_to(Path.cwd())
    except ValueError:
        return path.absolute()


def _located_git(git: str) -> str:
    if _LOGIN.match(git):
        raise HarnessError(
            "The address that --git or --base-git names holds a login, which would stand in the run directory.",
            "Leave it out, and have git know it: a credential helper, ~/.netrc, or ssh.",
        )
    url, at, ref = git.rpartition("@")
    return f"{Path(url).absolute()}@{ref}" if at and url and Path(url).is_dir() else git
