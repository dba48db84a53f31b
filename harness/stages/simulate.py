"""Run one simulation of a run directory again: one property with one seed, on the candidate and on base."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.base.text import visible
from harness.proof.simulation import Replay, keep_log, log_name, simulated_jars
from harness.rundir.directory import RunDirectory
from harness.stages.proof_case import proof_case
from harness.stages.proof_parts import bench_of
from harness.stages.prove import base_and_candidate
from harness.toolbox.toolbox import Toolbox


def replay(run_dir: Path, name: str, seed: int, toolbox: Toolbox, reporter: Reporter) -> bool:
    """Run a property with a seed on both jars, keep both logs, print how each ended; return whether both passed.

    Raises HarnessError for a property that there is none of.
    """
    directory = RunDirectory(run_dir)
    base, candidate = base_and_candidate(directory.declaration.read())
    case = proof_case(directory, base, candidate, toolbox, reporter)
    if not case.tests:
        raise HarnessError("The run directory was made without simulations.", "Make one with --simulate.")
    jars = simulated_jars(bench_of(case), case.jar, case.base_jar)
    folder = directory.proof(candidate.name).simulation
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as scratch:
        full = _full_name(name, jars.classes)
        ended = jars.replay(full, seed, Path(scratch))
        for build, each in zip((candidate.name, base.name), ended, strict=True):
            kept = folder / build / log_name(full, seed)
            keep_log(each.log, kept)
            _print(reporter.console, build, name, each, kept)
    return all(each.passed for each in ended)


def _full_name(name: str, classes: Sequence[str]) -> str:
    """Return the whole name of a property that is named as the report does. Raises HarnessError."""
    owner, _, method = name.rpartition("#")
    named = [each for each in classes if each.rpartition(".")[2] == owner]
    if not named:
        known = " and ".join(each.rpartition(".")[2] for each in classes)
        raise HarnessError(f"{name} is no simulation here.", f"Name one of {known}, as in CLASS#PROPERTY.")
    return f"{named[0]}#{method}"


def _print(console: Console, build: str, name: str, replay: Replay, log: Path) -> None:
    if replay.ended is None:
        raise HarnessError(f"The simulation {name} did not begin on {build}.", "Take its name from the report.")
    words = "passed" if replay.passed else f"failed: {visible(replay.ended.message)}"
    console.print(Text(f"{build}: {name} {visible(replay.ended.arguments)} {words}"))
    console.print(Text(f"  {log}", style="dim"))
