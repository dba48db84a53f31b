"""Going on with a run directory that was cut short: what is there already, and whether it may be gone on with."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.model.declaration import Declaration
from harness.rundir.directory import RunDirectory
from harness.toolbox.toolbox import Toolbox


def check_builds_and_java(run_dir: Path, declaration: Declaration, toolbox: Toolbox) -> None:
    """See that jars and Java are still those that were declared: else results would be of something else.

    Raises HarnessError.
    """
    anew = f"What was declared cannot be run any more: begin anew with `{RunDirectory(run_dir).command}`."
    for build in {arm.build.name: arm.build for arm in declaration.arms}.values():
        jar = run_dir / build.jar
        if not jar.is_file() or sha256_of(jar) != build.jar_sha256:
            raise HarnessError(f"{jar} is not the jar that run.json declares ({build.jar_sha256[:12]}…).", anew)
    java = describe_java(toolbox)
    for arm in declaration.arms:
        if arm.java not in ("", java):
            raise HarnessError(f"run.json declares Java {arm.java} for {arm.name}, and there is now {java}.", anew)


def describe_java(toolbox: Toolbox) -> str:
    """Return the runtime of the nodes in words, as run.json declares it."""
    return f"{toolbox.node_java().version} ({toolbox.java_home or 'bundled'})"
