"""What a request names: files and names, read and seen to fit together before anything is downloaded or started."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from harness.audit.claims_file import ClaimSet, load_claims
from harness.base.errors import HarnessError
from harness.building.given import check_raft_jar
from harness.cluster.config import load_overlay
from harness.kafka.distribution import unpacked_distribution
from harness.kafka.series import series_folder, series_folders
from harness.kafka.versions import release_of
from harness.model.candidate_kind import CandidateKind
from harness.model.request import DEFAULT_KAFKA, NO_CLAIMS, Request
from harness.model.setup import Setup
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all, select

_NO_CLAIMS = ClaimSet("kafka-raft", "", "", ())


@dataclass(frozen=True, slots=True)
class Inputs:
    """The Kafka version, what the candidate claims, what is run, and how (without any arm's settings yet).

    `kind` is what the request says of the candidate. A given jar is held against the series in the folders `suspected`.
    """

    kafka_version: str
    claims: ClaimSet
    scenarios: tuple[Scenario, ...]
    setup: Setup
    kind: CandidateKind = CandidateKind.SERIES
    suspected: tuple[Path, ...] = ()


def read_inputs(request: Request) -> Inputs:
    """Read and check whatever a request names. Raises HarnessError for the first thing that does not fit."""
    version = _kafka_version(request.base_dist, request.kafka_version)
    file = _claims_file(request, version)
    scenarios = select(load_all(request.scenario_folders), request.scenarios, request.suite)
    for jar in filter(None, (request.jar, request.base_jar)):
        check_raft_jar(jar, version)
    claims, setup = _claims_and_setup(request, file)
    return Inputs(version, claims, tuple(scenarios), setup, _kind(request), _suspected(request, setup, version))


def of_series(inputs: Inputs, request: Request, series: Path) -> Inputs:
    """Return the inputs of a given jar that turned out to be of the series in a folder. Raises HarnessError."""
    claims, setup = _claims_and_setup(request, series / "claims.toml")
    return replace(inputs, claims=claims, setup=setup, kind=CandidateKind.SERIES, suspected=())


def _claims_file(request: Request, version: str) -> Path | None:
    """Return the claims that count; a given jar has those of a series only once it is known to be of it."""
    if request.claims:
        return Path(request.claims) if request.claims != NO_CLAIMS else None
    return None if request.jar else series_folder(version, request.series) / "claims.toml"


def _kind(request: Request) -> CandidateKind:
    if not request.jar:
        return CandidateKind.SERIES
    return CandidateKind.CLAIMED if request.claims not in ("", NO_CLAIMS) else CandidateKind.UNKNOWN


def _suspected(request: Request, setup: Setup, version: str) -> tuple[Path, ...]:
    """Return the series that a given jar may be of: every one of its version, or that of the claims file."""
    if not request.jar or request.claims == NO_CLAIMS:
        return ()
    if request.claims:
        return (Path(setup.series),) if setup.series else ()
    return (series_folder(version, request.series),) if request.series else series_folders(version)


def _claims_and_setup(request: Request, file: Path | None) -> tuple[ClaimSet, Setup]:
    claims = load_claims(file) if file else _NO_CLAIMS
    overlay = load_overlay(request.config, frozenset(filter(None, [claims.flag]))) if request.config else {}
    series = file.parent if file and (file.parent / "series").is_file() else None
    return claims, Setup(
        flag_key=claims.flag,
        overlay=overlay,
        claims=str(file or ""),
        series=str(series or ""),
        waivers=str(request.waivers or _own_waivers(series) or ""),
    )


def _kafka_version(unpacked: Path | None, named: str) -> str:
    """Return the version that was named; the control's own release where the user brings one."""
    own = release_of(unpacked_distribution(unpacked).version) if unpacked else ""
    if own and named and release_of(named) != own:
        raise HarnessError(f"{unpacked} is Kafka {own}, not {named}.", "Leave out --kafka, or name another.")
    return named or own or DEFAULT_KAFKA


def _own_waivers(series: Path | None) -> Path | None:
    """Return the waivers that a series brings."""
    return series / "waivers.toml" if series and (series / "waivers.toml").is_file() else None
