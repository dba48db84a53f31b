"""Which changed lines runs reached of this very jar before: taken over, since nothing is judged by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.base.recordfile import RecordFile
from harness.coverage.reached import is_cut_short
from harness.engine.planned_run import PlannedRun
from harness.model.arms import Role
from harness.model.proof import ChangedMethod, Coverage
from harness.rundir.directory import RunDirectory
from harness.rundir.kept_results import KeptResults
from harness.stages.kept import origin_now
from harness.stages.reuse_digests import digest_of_reach
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

_RECORD = "coverage.json"


def digest_of_search(
    directory: RunDirectory,
    cells: Sequence[PlannedRun],
    methods: Sequence[ChangedMethod],
    toolbox: Toolbox,
    around: Mapping[str, str],
) -> str:
    """Return the digest of all that decides which changed lines are reached; empty where there is no candidate.

    `cells` are all declared ones, `methods` those that changed.
    """
    declaration, setup = directory.declaration.read(), directory.setup.read()
    arm, base = declaration.arm(Role.ON) or declaration.arm(Role.OFF), declaration.arm(Role.BASE)
    if arm is None or base is None:
        return ""
    once = [cell for cell in cells if (cell.key.arm, cell.key.repeat) == (arm.name, 1)]
    jars = [directory.path / build.jar for build in (base.build, arm.build)]
    series = Path(setup.series) if setup.series else None
    sources = directory.build(arm.build.name).sources
    tools = [toolbox.tool(purpose) for purpose in (Purpose.COVERAGE_AGENT, Purpose.COVERAGE_READER)]
    return digest_of_reach(once, jars, sources, series, methods, tools, around)


def take_reach(directory: RunDirectory, digest: str, kept: KeptResults, reporter: Reporter) -> None:
    """Put what is known of the very same into the run directory; say so, or why a damaged one is not taken."""
    build = directory.declaration.read().candidate
    try:
        with kept.taken(digest, directory.path) as found:
            if found is None:
                return
            origin, copies = found
            known = replace(RecordFile(copies / _RECORD, Coverage).read(), origin=origin)
    except HarnessError as error:
        kept.drop(digest)
        reporter.report(f"measuring again which changed lines are reached. {error}")
        return
    directory.proof(build).coverage.write(known)
    reporter.report(f"which changed lines are reached: taken over from {origin.minute}")


def keep_reach(directory: RunDirectory, digest: str, kept: KeptResults) -> None:
    """Keep which changed lines were reached where every run that measured it went on to its end and left its record."""
    found = directory.proof(directory.declaration.read().candidate).coverage.read_if_exists()
    if found is None or found.origin or not found.lines:
        return
    runs = directory.coverage_runs
    results = runs.results()
    measured = all(not is_cut_short(each) and runs.run(each.key).execution_data.is_file() for each in results)
    if results and measured:
        kept.keep(origin_now(directory.path, digest), {_RECORD: to_json(found).encode()})
