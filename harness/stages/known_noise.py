"""What is known of noise before the first run, and what a verification's own runs of base add to it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.paths import nearest_existing
from harness.base.progress import Reporter
from harness.engine.sealing import check_results
from harness.kafka.release_lines import line_of
from harness.logs.learning import learn_runs
from harness.logs.noise_book import can_stand_for, merged, record_of_runs, runs_of_record
from harness.logs.noise_store import add_runs, known_noise, own_noise
from harness.model.arms import Build, Role, kafkas_compared
from harness.model.options import record_of
from harness.model.request import Request
from harness.model.stock_noise import StockNoise, StockRun
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import noise_file
from harness.toolbox.toolbox import Toolbox


def noise_of(directory: RunDirectory) -> StockNoise | None:
    """Return the noise that a run directory is judged by, that of the plans of its runs where it has no copy yet."""
    return keep_noise(directory, {run.seal.read().inputs.plan for run in directory.runs() if run.seal.exists})


def keep_noise(directory: RunDirectory, plans: Collection[str]) -> StockNoise | None:
    """Return a run directory's copy of noise, made of what is known of these plans if it has none.

    `plans` are digests, as seals have them (`RunInputs.plan`). None without a base. Where base and the candidate are
    two Kafkas it has runs of both. It has learned from none of the runs that are there.
    """
    if directory.logs.noise.exists:
        return directory.logs.noise.read()
    declaration = directory.declaration.read()
    request = directory.request.read_if_exists() or record_of(Request, declaration.argv)
    base = declaration.arm(Role.BASE)
    if base is None:
        return None
    others = [arm.build for arm in declaration.arms if not arm.role.is_control]
    builds = [base.build, *(others if kafkas_compared(declaration.arms) else [])]
    scenarios = {scenario.name for scenario in declaration.scenarios}
    own = {run.seal.read().journal for run in directory.runs() if run.seal.exists}
    setup = directory.setup.read_if_exists()
    is_as_usual = not (setup and setup.overlay) and not request.soak

    def fits(run: StockRun) -> bool:
        # Another plan, or one with other server properties, does not tell what nodes log in this one.
        is_planned = run.plan in plans if run.plan else is_as_usual
        is_alike = is_planned and run.scenario in scenarios and run.profile == request.profile
        return is_alike and run.id not in own and any(can_stand_for(run, build) for build in builds)

    found = _known(builds, fits)
    directory.logs.noise.write(found)
    return found


def _known(builds: Sequence[Build], fits: Callable[[StockRun], bool]) -> StockNoise:
    """Return what is known of the builds' release lines, in one record."""
    versions = {line_of(build.kafka_version).name: build.kafka_version for build in builds}
    known = [known_noise(version, fits) for version in versions.values()]
    return record_of_runs(" and ".join(versions), merged(map(runs_of_record, known)))


def grow_noise(directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> None:
    """Add the runs of base to what this user's verifications have learned; that it failed is only reported."""
    try:
        line = line_of(directory.declaration.read().kafka_version).name
        add_runs(own_noise(line), line, learn_runs(directory, toolbox, reporter.report))
    except (HarnessError, OSError) as error:
        reporter.report(f"the noise of base's runs was not learned: {error}")


def learn_noise(folders: Sequence[Path], version: str, out: Path, toolbox: Toolbox, reporter: Reporter) -> StockNoise:
    """Add what base's runs in run directories logged to a file of noise and return what it holds then.

    Raises HarnessError for a folder that is no run directory, whose results were changed, or of another release line.
    """
    line = line_of(version).name
    if not out.parent.is_dir() and (out.parent.exists() or not nearest_existing(out.parent).is_dir()):
        raise HarnessError(f"{out.parent} is no folder.", "Name a file in a folder by --out.")
    books = []
    for folder in folders:
        reporter.stage(f"learning from {folder}")
        check_results(folder)
        found = learn_runs(RunDirectory(folder), toolbox, reporter.report)
        others = {run.kafka_version for run in found if line_of(run.kafka_version).name != line}
        if others:
            raise HarnessError(f"{folder} has runs of Kafka {min(others)}, which is not of {line}.", "Leave it out.")
        reporter.report(f"{len(found)} runs of base's jar")
        books.append(found)
    add_runs(out, line, merged(books))
    return noise_file(out).read()
