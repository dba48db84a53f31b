"""What a request names: files and names, read and seen to fit together before anything is downloaded or started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.audit.claims_file import ClaimSet, load_claims
from harness.base.errors import HarnessError
from harness.building.builders.base import check_builder
from harness.building.given import check_raft_jar
from harness.cluster.config import load_overlay
from harness.kafka.completeness import check_whole, in_two_versions, lacking_others
from harness.kafka.distribution import Distribution, distribution_at, forget_unpacked
from harness.kafka.lock import checked_version
from harness.kafka.release_lines import Mode, line_of
from harness.kafka.series import series_folder, series_folders
from harness.kafka.versions import release_of
from harness.model.candidate_kind import CandidateKind
from harness.model.request import NO_CLAIMS, NO_SERIES, Request, suite_of
from harness.model.setup import Setup
from harness.model.sides import Side, Sides, sides_of
from harness.scenario.bounds import seconds
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all, select
from harness.toolbox.toolbox import Toolbox

_NO_CLAIMS = ClaimSet("kafka-raft", "", "", ())


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is compared, what the candidate claims, what is run, and how (without any arm's settings yet).

    `kind` is what the request says of the candidate. A given jar is held against the series in the folders `suspected`.
    `passed_over` are scenarios of the suite that are for a mode in which nodes of these Kafkas are not started.
    `claims_elsewhere` are claims about scenarios of other suites, which are not asked, each with the option for that.
    """

    sides: Sides
    claims: ClaimSet
    scenarios: tuple[Scenario, ...]
    setup: Setup
    kind: CandidateKind = CandidateKind.SERIES
    suspected: tuple[Path, ...] = ()
    passed_over: tuple[str, ...] = ()
    claims_elsewhere: Mapping[str, str] = field(default_factory=dict)


def read_inputs(request: Request, toolbox: Toolbox) -> Inputs:
    """Read and check whatever a request names. Raises HarnessError for the first thing that does not fit.

    Nothing is fetched; only of an archive of a whole Kafka the jars are unpacked into the cache.
    """
    _check_duration("--soak", request.soak)
    _check_duration("--simulate", request.simulate)
    check_builder(request.builder)
    _check_sources(request)
    sides = read_sides(request, toolbox)
    candidate = sides.candidate
    file = _claims_file(request, candidate)
    for side in (sides.base, candidate):
        if side.jar:
            check_raft_jar(side.jar, side.version, side.place)
        elif side.series and _is_patched(side):
            series_folder(side.version, side.series)
    claims, setup = _claims_and_setup(request, file)
    kind = _kind(request, candidate)
    scenarios, passed_over = _scenarios(request, claims, sides, kind, own=not setup.series)
    suspected = _suspected(request, setup, candidate.version)
    found = Inputs(sides, claims, scenarios, setup, kind, suspected, passed_over)
    return _with_claims_of_suite(found, request)


def _check_sources(request: Request) -> None:
    """Raise HarnessError for a checkout that would be read by nobody, or that is none."""
    if request.sources is None:
        return
    if request.jar is None:
        raise HarnessError(
            "--sources is the checkout that --jar was built from, and no --jar is given.",
            f"To build a checkout: --git {request.sources}@REF.",
        )
    if not (request.sources / "raft" / "src" / "main" / "java").is_dir():
        raise HarnessError(f"{request.sources} has no raft/src/main/java.", "Name the top folder of a Kafka checkout.")


def read_sides(request: Request, toolbox: Toolbox) -> Sides:
    """Return what a request compares; whole Kafkas are looked at. Raises HarnessError."""
    for version in filter(None, (request.kafka_version, request.base_kafka)):
        checked_version(version)
    return sides_of(request, lambda place: _release_at(place, toolbox))


def what_lacks(sides: Sides, toolbox: Toolbox) -> tuple[str, ...]:
    """Return in sentences what whole Kafkas lack of other people's jars that Apache's release has, or have twice."""
    places = dict.fromkeys(side.place for side in (sides.base, sides.candidate) if side.place)
    return tuple(line for place in places for line in _oddities(place, distribution_at(place, toolbox.cache)))


def _oddities(place: Path, kafka: Distribution) -> Iterator[str]:
    if names := lacking_others(kafka):
        yield f"{place} lacks {', '.join(names)}, which Apache's release of its version has: nodes may not start"
    for names in in_two_versions(kafka):
        yield f"{place} has {' and '.join(names)}, of which nodes run only the first"


def _release_at(place: Path, toolbox: Toolbox) -> str:
    """Return the release of the whole Kafka at a place. Raises HarnessError when it is none."""
    kafka = distribution_at(place, toolbox.cache)
    try:
        check_whole(kafka, place)
    except HarnessError:
        forget_unpacked(kafka, place)
        raise
    return release_of(kafka.version)


def _check_duration(option: str, duration: str) -> None:
    try:
        seconds(duration or "0s")
    except ValueError as error:
        raise HarnessError(f"{option}: {error}.") from error


def of_series(inputs: Inputs, request: Request, series: Path) -> Inputs:
    """Return the inputs of a given jar that turned out to be of the series in a folder. Raises HarnessError."""
    claims, setup = _claims_and_setup(request, series / "claims.toml")
    scenarios, _ = _scenarios(request, claims, inputs.sides, CandidateKind.SERIES, own=False)
    found = replace(inputs, claims=claims, scenarios=scenarios, setup=setup, kind=CandidateKind.SERIES, suspected=())
    return _with_claims_of_suite(found, request)


def _with_claims_of_suite(inputs: Inputs, request: Request) -> Inputs:
    """Return inputs without the claims whose scenarios are of other suites, where a whole suite is asked.

    What a suite leaves out is asked by another, which says so: it is no gap of this one.
    """
    if request.scenarios:
        return inputs
    known = load_all(request.scenario_folders)
    here = {*(each.name for each in inputs.scenarios), *inputs.passed_over}
    elsewhere = {
        claim.id: _asked_by(known[claim.scenario])
        for claim in inputs.claims.claims
        if claim.scenario in known and claim.scenario not in here
    }
    asked = tuple(claim for claim in inputs.claims.claims if claim.id not in elsewhere)
    return replace(inputs, claims=replace(inputs.claims, claims=asked), claims_elsewhere=elsewhere)


def _asked_by(scenario: Scenario) -> str:
    """Return the option by which a scenario is asked."""
    return f"--suite {scenario.suites[0]}" if scenario.suites else f"--scenario {scenario.name}"


def _scenarios(
    request: Request, claims: ClaimSet, sides: Sides, kind: CandidateKind, *, own: bool
) -> tuple[tuple[Scenario, ...], tuple[str, ...]]:
    """Return what is asked, and the names of what a suite has beside it for another mode than that of these Kafkas.

    By default that is, of a series, what it claims, and of any other candidate whether anything is worse. Claims of
    somebody's `own` may be about any scenario; those of a series say where each is asked. What is named, a suite of one
    mode, and one of which nothing could be asked come back whole: they are refused with the mode's name.
    """
    of_series = bool(claims.claims) and kind is CandidateKind.SERIES
    known, suite = load_all(request.scenario_folders), suite_of(request, of_series=of_series)
    claimed = claims.claims if own and not (request.suite or request.scenarios) else ()
    about = {claim.scenario: known[claim.scenario] for claim in claimed if claim.scenario in known}
    asked = {each.name: each for each in select(known, request.scenarios, suite, request.seeds)}
    wanted = tuple((asked | about).values())
    if request.scenarios or len({each.topology.mode for each in wanted}) < len(Mode):
        return wanted, ()
    modes = set(line_of(sides.base.version).modes) & set(line_of(sides.candidate.version).modes)
    fitting = tuple(each for each in wanted if each.topology.mode in modes)
    return (fitting or wanted), tuple(each.name for each in wanted if fitting and each not in fitting)


def _claims_file(request: Request, candidate: Side) -> Path | None:
    """Return the claims that count; a given jar has those of a series only once it is known to be of it."""
    if request.claims:
        return Path(request.claims) if request.claims != NO_CLAIMS else None
    folder = series_folder(candidate.version, candidate.series) if _is_patched(candidate) else None
    return folder / "claims.toml" if folder else None


def _is_patched(side: Side) -> bool:
    return side.built and side.series != NO_SERIES


def _kind(request: Request, candidate: Side) -> CandidateKind:
    if _is_patched(candidate):
        return CandidateKind.SERIES
    return CandidateKind.CLAIMED if request.claims not in ("", NO_CLAIMS) else CandidateKind.UNKNOWN


def _suspected(request: Request, setup: Setup, version: str) -> tuple[Path, ...]:
    """Return the series that a given jar may be of: every one of its version, or that of the claims file."""
    if not request.jar or request.claims == NO_CLAIMS:
        return ()
    if request.claims:
        return (Path(setup.series),) if setup.series else ()
    if request.series == NO_SERIES:
        return ()
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


def _own_waivers(series: Path | None) -> Path | None:
    """Return the waivers that a series brings."""
    return series / "waivers.toml" if series and (series / "waivers.toml").is_file() else None
