"""Scenarios as pytest items: `pytest scenarios` collects one item per scenario and arm and shows how it went.

The executor schedules and the judge compares; this plugin only collects and shows. As claimed is passed, or xfailed
where the claims say that the run fails; otherwise failed. INCONCLUSIVE and BROKEN are errors, UNSUPPORTED is skipped
with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.model.arms import Role
from harness.model.verdict import Check, JudgedRun
from harness.rundir.directory import RunDirectory
from harness.scenario.plan import Scenario
from harness.scenario.registry import holds_scenarios, load_file


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the few options that a verification through pytest needs."""
    group = parser.getgroup("kafka-patch-harness")
    group.addoption("--kafka-jar", type=Path, help="a finished kafka-raft jar as the candidate, not the shipped series")
    group.addoption("--kafka-series", default="", help="which patch series, where there are several")
    group.addoption("--kafka-out", type=Path, help="run directory to make; out/<time>-pytest if not given")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect Python files that hold scenarios, and no others."""
    if file_path.suffix == ".py" and not file_path.name.startswith("test_") and holds_scenarios(file_path):
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


class ScenarioFile(pytest.File):
    """A file of scenarios."""

    def collect(self) -> Iterator[ScenarioItem]:
        """Yield one item per scenario and role of an arm."""
        for scenario in load_file(self.path):
            for role in map(str, _ROLES):
                yield ScenarioItem.from_parent(self, name=f"{scenario.name}[{role}]", scenario=scenario, role=role)


class ScenarioItem(pytest.Item):
    """One scenario on the arm of one role."""

    def __init__(self, *, scenario: Scenario, role: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.scenario = scenario
        self.role = role

    def setup(self) -> None:
        """Take the result; what says nothing about the build is an error or a skip here."""
        run = self._run()
        if run is None:
            self._explain_absence()
        elif run.check is Check.SKIPPED:
            pytest.skip(run.reason)
        elif run.check is Check.ERROR:
            raise NotDecided(self._sentence(run, "says nothing about the build"))

    def runtest(self) -> None:
        """Report how the run compares with what is claimed."""
        run = self._run()
        if run and run.check is Check.FAILED:
            raise NotAsClaimed(self._sentence(run, "not as claimed"))
        if run and run.check is Check.EXPECTED_FAILURE:
            pytest.xfail(f"{run.label}, as claimed: {run.reason}")

    def _run(self) -> JudgedRun | None:
        return self.session.stash[_RUNS].get((self.scenario.name, self.role))

    def _explain_absence(self) -> None:
        if self.role == Role.OFF and not self.session.stash[_FLAG_KNOWN]:
            pytest.skip("the candidate does not know the flag: there is no arm off")
        raise NotDecided(f"there is no result; see {self.session.stash[_RUN_DIR].path}")

    def _sentence(self, run: JudgedRun, means: str) -> str:
        folder = self.session.stash[_RUN_DIR].run(run.key).path
        return f"{run.label}, {means}: {run.reason or 'it passed'}\nevidence: {folder}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """Show a sentence, not a traceback, for what a run showed."""
        if isinstance(excinfo.value, NotAsClaimed | NotDecided):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the item as the report does."""
        return self.path, None, self.name


class NotAsClaimed(Exception):  # noqa: N818 - read by people as the first word of a failure
    """A run was decided, and not as claimed."""


class NotDecided(Exception):  # noqa: N818
    """A run says nothing about the build."""


_ROLES = (Role.BASE, Role.OFF, Role.ON)  # base is a release here, which has no flag to switch off
_RUNS = pytest.StashKey[dict[tuple[str, str], JudgedRun]]()  # by scenario and role
_RUN_DIR = pytest.StashKey[RunDirectory]()
_FLAG_KNOWN = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Before the first item: build, and run everything that was collected, a few clusters side by side."""
    items = [item for item in session.items if isinstance(item, ScenarioItem)]
    if not items or session.config.option.collectonly:
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        try:
            _verify(session, items)
        except HarnessError as error:
            raise pytest.UsageError(str(error)) from error


def _verify(session: pytest.Session, items: list[ScenarioItem]) -> None:
    # The stages import everything that a verification needs; a session without scenarios must not wait for that.
    from harness.cli.common import allow_networks, new_run_dir, reporter, toolbox_of
    from harness.model.options import arguments_of
    from harness.model.request import Request, located
    from harness.stages import run as run_stage
    from harness.stages.build import build
    from harness.stages.judge import judge_run

    allow_networks()
    run_dir = new_run_dir(session.config.getoption("--kafka-out"), "pytest")
    names = tuple(dict.fromkeys(item.scenario.name for item in items))
    jar, series = (session.config.getoption(f"--kafka-{each}") for each in ("jar", "series"))
    request = Request(jar=jar, series=series, scenarios=names, scenario_folders=_folders_of_ones_own(items))
    directory = session.stash[_RUN_DIR] = RunDirectory(run_dir)
    directory.request.write(located(replace(request, argv=("verify", *arguments_of(request)))))
    tools = toolbox_of(run_dir)
    build(run_dir, tools, reporter())
    run_stage.run(run_dir, tools, reporter())
    session.stash[_FLAG_KNOWN] = directory.declaration.read().flag_known
    session.stash[_RUNS] = {(run.scenario, str(run.role)): run for run in judge_run(directory).runs}


def _folders_of_ones_own(items: list[ScenarioItem]) -> tuple[Path, ...]:
    """Return the folders of what was collected, without the harness's own."""
    own = (data_root() / "scenarios").resolve()
    return tuple(dict.fromkeys(folder for item in items if (folder := item.path.resolve().parent) != own))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say where the evidence lies."""
    session = terminalreporter._session
    if session is not None and _RUN_DIR in session.stash:
        run_dir = session.stash[_RUN_DIR].path
        terminalreporter.write_line(f"evidence: {run_dir}; a report of it: harness diff, judge and report {run_dir}")
