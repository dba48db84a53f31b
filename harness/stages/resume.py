"""Going on with a verification that was cut short: what is there already, and whether it may be gone on with."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import HarnessError
from harness.model.declaration import Declaration
from harness.model.setup import Setup
from harness.rundir.directory import RunDirectory
from harness.toolbox.downloads import sha256_of
from harness.toolbox.java import JavaRuntime

_ANEW = "What was declared cannot be run any more: begin anew with `harness verify`."


def is_declared(run_dir: Path) -> bool:
    """Return whether the build stage ended: it writes run.json last."""
    return RunDirectory(run_dir).declaration.exists


def is_compared(run_dir: Path) -> bool:
    """Return whether the log diff ended, and after the last run."""
    directory = RunDirectory(run_dir)
    findings = directory.logs.findings.path
    runs = [run.result.path.stat().st_mtime_ns for run in directory.runs() if run.result.exists]
    return findings.is_file() and findings.stat().st_mtime_ns >= max(runs, default=0)


def check_ground(run_dir: Path, asked: Declaration, setup: Setup, runtime: JavaRuntime) -> None:
    """See that jars and Java are still those that were declared: else results would be of something else.

    Raises HarnessError.
    """
    for build in {arm.build.name: arm.build for arm in asked.arms}.values():
        jar = run_dir / build.jar
        if not jar.is_file() or sha256_of(jar) != build.jar_sha256:
            raise HarnessError(f"{jar} is not the jar that run.json declares ({build.jar_sha256[:12]}…).", _ANEW)
    java = describe_java(setup, runtime)
    for arm in asked.arms:
        if arm.java not in ("", java):
            raise HarnessError(f"run.json declares Java {arm.java} for {arm.name}, and there is now {java}.", _ANEW)


def describe_java(setup: Setup, runtime: JavaRuntime) -> str:
    """Return the runtime of the nodes in words, as run.json declares it."""
    return f"{runtime.version} ({setup.java_home or 'bundled'})"
