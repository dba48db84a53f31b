"""What a request names: files and names, read and seen to fit together before anything is downloaded or started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.audit.claims_file import ClaimSet, load_claims
from harness.base.errors import HarnessError
from harness.building.given import check_raft_jar
from harness.cluster.config import load_overlay
from harness.kafka.distribution import unpacked_distribution
from harness.kafka.series import series_folder
from harness.model.request import DEFAULT_KAFKA, NO_CLAIMS, Request
from harness.model.setup import Setup
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all, select

_NO_CLAIMS = ClaimSet("kafka-raft", "", "", ())


@dataclass(frozen=True, slots=True)
class Inputs:
    """The Kafka version, what the candidate claims, what is run, and how (without any arm's settings yet)."""

    kafka_version: str
    claims: ClaimSet
    scenarios: tuple[Scenario, ...]
    setup: Setup


def read_inputs(request: Request) -> Inputs:
    """Read and check whatever a request names. Raises HarnessError for the first thing that does not fit."""
    version = _kafka_version(request.base_dist, request.kafka_version)
    named = Path(request.claims or series_folder(version, request.series) / "claims.toml")
    file = named if request.claims != NO_CLAIMS else None
    claims = load_claims(file) if file else _NO_CLAIMS
    scenarios = select(load_all(request.scenario_folders), request.scenarios, request.suite)
    overlay = load_overlay(request.config, frozenset(filter(None, [claims.flag]))) if request.config else {}
    for jar in filter(None, (request.jar, request.base_jar)):
        check_raft_jar(jar, version)
    series = file.parent if file and (file.parent / "series").is_file() else None
    setup = Setup(
        flag_key=claims.flag,
        overlay=overlay,
        claims=str(file or ""),
        series=str(series or ""),
        waivers=str(request.waivers or _own_waivers(series) or ""),
    )
    return Inputs(version, claims, tuple(scenarios), setup)


def _kafka_version(unpacked: Path | None, named: str) -> str:
    """Return the version that was named; the control's own where the user brings one."""
    own = unpacked_distribution(unpacked).version if unpacked else ""
    if own and named and named != own:
        raise HarnessError(f"{unpacked} is Kafka {own}, not {named}.", "Leave out --kafka, or name another.")
    return named or own or DEFAULT_KAFKA


def _own_waivers(series: Path | None) -> Path | None:
    """Return the waivers that a series brings."""
    return series / "waivers.toml" if series and (series / "waivers.toml").is_file() else None
