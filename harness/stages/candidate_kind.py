"""What a given jar is known to be: of a patch series, of somebody's claims, or of nobody knows what."""

from __future__ import annotations

from pathlib import Path

from harness.audit.claims_file import load_claims
from harness.base.progress import Reporter
from harness.building.build_comparison import series_jar
from harness.building.builders.base import BuildHost, host_compiler
from harness.building.builders.ecj import ecj_of
from harness.building.compiling import Builder
from harness.building.configdef import prepare_probe, read_flag
from harness.kafka.distribution import distribution_of, locked_distribution
from harness.kafka.lock import locked_versions, read_lock
from harness.kafka.patching import load_series
from harness.kafka.release_lines import line_of
from harness.model.candidate_kind import CandidateKind
from harness.model.request import Request
from harness.model.sides import Side
from harness.proof.bytecode import prepare_bytecode, read_each
from harness.proof.recognition import added_by_series, lacking
from harness.stages.inputs import Inputs, of_series
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

_MOST_NAMED = 3


def recognised(request: Request, inputs: Inputs, toolbox: Toolbox, reporter: Reporter) -> Inputs:
    """Return the inputs, with the series' claims where a given jar is of one; what it is is reported in a line.

    A series is compiled to compare with, from what the lock of the nodes' release pins: without one that is not known.
    Raises HarnessError when the jar's configuration cannot be read, or a series cannot be compiled to compare with.
    """
    if not request.jar:
        return inputs
    version = inputs.sides.candidate.version
    if inputs.suspected and version not in locked_versions():
        reporter.report(
            f"the lock of Kafka {version} is needed to see whether the jar is of a series: `harness lock {version}`"
        )
        reporter.report(describe(inputs.kind, []))
        return inputs
    lacks = []
    for series in inputs.suspected:
        lack = _lack(request.jar, series, request.builder, inputs.sides.candidate, toolbox, reporter)
        if not lack:
            reporter.report(f"the jar is of the series {series.name}: it declares everything that the series adds")
            return of_series(inputs, request, series)
        lacks.append(f"of the series {series.name} (it lacks {lack})")
    reporter.report(describe(inputs.kind, lacks))
    return inputs


def describe(kind: CandidateKind, lacks: list[str]) -> str:
    """Return what a given jar is, and what is asked of it; `lacks` says of each series what the jar lacks of it."""
    known = f"the jar is not {' nor '.join(lacks)}" if lacks else "the jar was not compared with any series"
    if kind is CandidateKind.UNKNOWN:
        return f"{known}: the question is whether anything is worse"
    return f"{known}: it is judged by its claims and by its behaviour" if lacks else "the jar is judged by its claims"


def _lack(jar: Path, folder: Path, builder: str, side: Side, toolbox: Toolbox, reporter: Reporter) -> str:
    """Return what a jar lacks of a series, empty where it has everything; the key is looked up before anything else."""
    host = BuildHost(toolbox, line_of(side.version).class_files, reporter.report)
    kafka = distribution_of(side.place, side.version, toolbox)
    compiler = host_compiler(builder, host)
    flag = load_claims(folder / "claims.toml").flag
    probe = prepare_probe(compiler, toolbox.node_java(), kafka.jars, toolbox.cache)
    if flag and not read_flag(probe, jar, kafka.others, flag).known:
        return f"the key {flag}"
    return _lacking_members(jar, folder, compiler, host, side.version, bool(flag))


def _lacking_members(jar: Path, folder: Path, compiler: Builder, host: BuildHost, version: str, key_known: bool) -> str:
    lock, downloads = read_lock(version), host.toolbox.downloads
    released, sources = locked_distribution(lock, downloads), downloads.fetch(lock.one(Purpose.SOURCES))
    built = series_jar(compiler, released, sources, host.target, host.toolbox.cache, load_series(folder))
    tools = prepare_bytecode(ecj_of(host.toolbox), host.toolbox)
    base, series, candidate = read_each(tools, (released.raft_jar, built, jar))
    added = added_by_series(base, series)
    missing = [str(each) for each in lacking(added, candidate)]
    if not added and not key_known:
        return "any sign of it: the series declares nothing new"
    more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    return ", ".join(missing[:_MOST_NAMED]) + more
