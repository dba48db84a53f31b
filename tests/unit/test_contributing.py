"""CONTRIBUTING.md: each file that it shows is complete, is loaded the public way, and does what the page says."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from ruamel.yaml import YAML
from still_cluster import StillCluster, run_still, take_place_of_live_ones

import harness.building.builders as own_builders
from harness.base import paths
from harness.base.waiting import wait_until
from harness.building.builders import base as builder_registry
from harness.building.builders.base import BuildHost, builders, open_builder, usual_builders
from harness.cluster.node import NodeState
from harness.cluster.probes import Quorum
from harness.cluster.watch import Look
from harness.kafka.patching import load_series
from harness.kafka.release_lines import line_of
from harness.kafka.series import series_folder
from harness.model.arms import Role
from harness.model.events import Noted, Sampled, StepChanged
from harness.model.request import Request
from harness.model.runs import Outcome
from harness.scenario import verbs as verb_registry
from harness.scenario.capabilities import base as capability_registry
from harness.scenario.capabilities.base import capabilities, missing
from harness.scenario.monitors import host_not_starved
from harness.scenario.registry import load_all
from harness.scenario.verbs import Kind, verb, verbs
from harness.stages.inputs import read_inputs
from harness.toolbox.toolbox import Toolbox, local_toolbox

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
VOTERS, OBSERVER = (0, 1, 2), 3


@pytest.fixture(autouse=True)
def registries_as_they_were(monkeypatch):
    """Let the page's verbs, capabilities and builders be known in one test only."""
    monkeypatch.setattr(verb_registry, "_verbs", dict(verbs()))
    monkeypatch.setattr(capability_registry, "_capabilities", dict(capabilities()))
    monkeypatch.setattr(builder_registry, "_kinds", dict(builders()))


@pytest.fixture
def scenarios(shown_files: Path) -> Path:
    """Return the page's folder of scenarios."""
    return shown_files / "my-scenarios"


def is_held(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


class Sleeper:
    """A node whose process sleeps."""

    config = SimpleNamespace(listeners=())

    was_started, hangs, thread_dumps, state, log_file = False, False, (), NodeState.READY, Path("nowhere")
    metadata_log = Path("nowhere")
    figures_file = Path("nowhere")
    is_running, is_alive = True, False
    ended_in_order, was_stopped_while_starting = True, False

    def __init__(self, number: int) -> None:
        self.id, self.is_voter = number, number in VOTERS
        self.process = subprocess.Popen(["/bin/sleep", "60"])

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def exit_code(self) -> int | None:
        return self.process.poll()

    def look_for_death(self): ...

    def terminate(self) -> bool:
        self.process.terminate()
        return True

    def finish_stopping(self, *, keep_threads: bool): ...


class SleepingCluster(StillCluster):
    """Node 0 leads; while its process is held, and the monitor of starvation has had looks at it, node 1 does."""

    looks_at_held = 0

    def __init__(self, topology, *_):
        super().__init__(topology)
        self.nodes = {number: Sleeper(number) for number in topology.node_ids}
        self.running, self.voters = list(self.nodes.values()), [self.nodes[number] for number in VOTERS]
        self.deposed, self.offset = False, 100

    def start(self, nodes, _voters=None):
        for node in nodes:
            self.nodes[node].is_alive = True

    def close(self):
        for node in self.nodes.values():
            node.process.kill()
            node.process.wait()

    def quorum(self):
        self.deposed |= is_held(self.nodes[0].pid) and type(self).looks_at_held > 1
        self.offset += 1
        leader, epoch = (1, 2) if self.deposed else (0, 1)
        ends = dict.fromkeys(VOTERS, self.offset)
        return Quorum(leader, epoch, self.offset, ends, {OBSERVER: self.offset - 5}, {}, ((epoch, leader),))


class Eyes:
    """A watcher that sees what the cluster answers, and the epochs that a test names."""

    epochs = (-1, 1, 2, 1)

    def __init__(self, cluster, on_look, _on_fault):
        self.cluster, self.on_look = cluster, on_look

    def start(self):
        for epoch in self.epochs:
            self.on_look(Look(time.monotonic(), Quorum(0, epoch), {}))

    def stop(self): ...

    def recent(self, _since):
        return [Look(time.monotonic(), self.cluster.quorum(), {OBSERVER: bytes_}) for bytes_ in (10, 20)]


class WrittenAtOnce:
    """A producer whose records are acknowledged as soon as they are written."""

    acknowledged: list[int]

    def __init__(self, _settings): ...

    def __len__(self):
        return 0

    def produce(self, _topic, value, on_delivery):
        self.acknowledged.append(int(value))
        on_delivery(None, SimpleNamespace(value=value.encode, latency=lambda: 0.001))

    def flush(self, _seconds): ...


def module_of(name: str):
    """Return the module that defines a verb."""
    return sys.modules[verb(name).__module__]


@pytest.fixture
def written(monkeypatch, scenarios):
    """Have the page's load write to memory; return the numbers that were acknowledged, which are read back."""
    load_all([scenarios])
    module, numbers = module_of("write_one_by_one"), []
    monkeypatch.setattr(WrittenAtOnce, "acknowledged", numbers, raising=False)
    monkeypatch.setattr(module, "Producer", WrittenAtOnce)
    monkeypatch.setattr(module, "read_back", lambda *_: [SimpleNamespace(value=str(each)) for each in numbers])
    monkeypatch.setattr("harness.scenario.world.World.create_topic", lambda *_: None)
    return numbers


@pytest.fixture
def run_it(monkeypatch, scenarios, tmp_path, written):  # nothing is written to brokers
    """Return a function that runs the page's scenario on a cluster of sleeping processes."""

    def kept_from_running(_waits, node):
        SleepingCluster.looks_at_held += is_held(node.pid)
        return 5.0 if is_held(node.pid) else 0.0

    take_place_of_live_ones(monkeypatch, SleepingCluster, Eyes)
    monkeypatch.setattr(SleepingCluster, "looks_at_held", 0)
    monkeypatch.setattr(host_not_starved.RunQueueWaits, "since_last", kept_from_running)
    monkeypatch.setattr(host_not_starved, "_LOOK_EVERY_SECONDS", 0.01)
    return lambda: run_still(load_all([scenarios])["leader-pauses"], tmp_path / "run")


def test_the_scenario_is_carried_out_with_fault_condition_load_and_monitor_of_the_page(run_it):
    result, events, said = run_it()
    assert (result.outcome, result.reason) == (Outcome.PASSED, "")
    assert said == ["start", "the leader hangs", "it comes back"]
    done = [event.text for event in events if isinstance(event, StepChanged) and event.status == "done"]
    held, goes_on = "pause the first leader (SIGSTOP)", "let the first leader go on (SIGCONT)"
    assert done.index(held) < done.index(goes_on)
    looks = [event for event in events if isinstance(event, Sampled) and "at most 5 records behind" in event.condition]
    assert (looks[-1].ok, looks[-1].detail["leader"]) == (True, 1)
    assert "write records one by one to “orders”" in done
    assert result.measures["newest_epoch"] == 2
    assert Noted("the quorum came to epoch 2") in events


def sample_of(name, quorum):
    observer = SimpleNamespace(description="the observer", find=lambda _: OBSERVER)
    return verb(name)(observer, 5).sample(SimpleNamespace(quorum=lambda: quorum))


def test_a_storm_of_elections_fails_the_run_by_the_monitors_name(run_it, monkeypatch):
    monkeypatch.setattr(Eyes, "epochs", (1, 12))
    result, *_ = run_it()
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "epochs_are_few")
    assert result.reason == "the quorum went from epoch 1 to 12"


@pytest.mark.parametrize(("offset", "holds"), [(95, True), (94, False), (-1, False)])
def test_the_condition_counts_what_the_observer_lacks_by_the_leaders_account(scenarios, offset, holds):
    load_all([scenarios])
    quorum = Quorum(1, 2, 90, {0: 80, 1: 100}, {OBSERVER: offset} if offset >= 0 else {})
    assert sample_of("lags_at_most", quorum).ok is holds


def test_without_a_leader_the_condition_says_that_nobody_could_be_asked(scenarios):
    load_all([scenarios])
    sample = sample_of("lags_at_most", Quorum())
    assert (sample.ok, sample.testable) == (False, False)


@pytest.mark.parametrize(("name", "number"), [("pause", signal.SIGSTOP), ("resume", signal.SIGCONT)])
def test_a_node_that_does_not_run_is_not_signalled(scenarios, monkeypatch, name, number):
    load_all([scenarios])
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a signal to process 0 goes to this whole group"))
    cluster = SimpleNamespace(nodes={0: SimpleNamespace(pid=0)})
    world = SimpleNamespace(cluster=cluster, monitor=lambda _: SimpleNamespace(allow=id, disallow=id))
    with pytest.raises(module_of(name).ActionFailed, match="node 0 does not run"):
        verb(name)(SimpleNamespace(find=lambda _: 0)).perform(world)


def test_a_held_node_is_excused_from_starvation_for_as_long_as_it_is_held(scenarios):
    load_all([scenarios])
    node, calls = Sleeper(0), []

    def heard(name):
        return lambda number: calls.append((name, number, is_held(node.pid)))

    starvation = SimpleNamespace(allow=heard("allow"), disallow=heard("disallow"))
    world = SimpleNamespace(cluster=SimpleNamespace(nodes={0: node}), monitor=lambda _: starvation)
    try:
        verb("pause")(SimpleNamespace(find=lambda _: 0)).perform(world)
        assert wait_until(lambda: is_held(node.pid), 10)
        verb("resume")(SimpleNamespace(find=lambda _: 0)).perform(world)
    finally:
        node.process.kill()
        node.process.wait()
    assert calls == [("allow", 0, False), ("disallow", 0, False)]


def test_the_load_misses_what_was_acknowledged_and_is_gone(written):
    world = SimpleNamespace(
        cluster=SimpleNamespace(client_brokers=[], topology=SimpleNamespace(combined=True, voter_ids=VOTERS)),
        create_topic=lambda *_: None,
    )
    client = verb("write_one_by_one")("orders").start(world)
    while len(written) < 3:
        time.sleep(0.01)
    client.stop()
    assert client.report(()).lost == 0
    written.remove(1)
    report = client.report(())
    assert (report.lost, report.acknowledged) == (1, len(written) + 1)


def test_each_of_the_pages_verbs_is_one_file_and_is_listed(scenarios):
    before = set(verbs())
    load_all([scenarios])
    new = {found.name: (found.kind, found.file.name) for found in verbs().values() if found.name not in before}
    assert new == {
        "pause": (Kind.FAULT, "pause.py"),
        "resume": (Kind.ACTION, "pause.py"),
        "lags_at_most": (Kind.CONDITION, "lags_at_most.py"),
        "write_one_by_one": (Kind.LOAD, "one_by_one.py"),
        "epochs_are_few": (Kind.MONITOR, "epochs_are_few.py"),
    }


def test_a_host_without_the_pages_capability_is_told_why_and_what_to_do(scenarios, monkeypatch, tmp_path):
    load_all([scenarios])
    probe = capabilities()["cgroup_freezer"].probe
    groups = tmp_path / "cgroup"
    monkeypatch.setitem(probe.__globals__, "_GROUPS", groups)
    assert missing(["cgroup_freezer"]) == (
        f"this host cannot run it: Freezing a control group: {groups} has no cgroups of version 2. "
        "Run as root, on a kernel with cgroups version 2."
    )
    groups.mkdir()
    (groups / "cgroup.controllers").touch()
    assert missing(["cgroup_freezer"]) == ""


def test_the_pages_series_is_chosen_by_name_and_claims_what_its_scenario_shows(shown_files, scenarios, monkeypatch):
    for name in ("scenarios", "builds"):
        if not (shown_files / name).exists():
            (shown_files / name).symlink_to(ROOT / name)
    (shown_files / "patches/3.9.1/dynamic-bootstrap").symlink_to(ROOT / "patches/3.9.1/dynamic-bootstrap")
    monkeypatch.setattr(paths, "_INSTALLED", shown_files)
    series = load_series(series_folder("3.9.1", "candidates-name-the-epoch"))
    assert [patch.subject for patch in series.patches] == ["Say in which epoch the leader fell silent"]
    request = Request(series="candidates-name-the-epoch", scenario_folders=(scenarios,), scenarios=("leader-pauses",))
    inputs = read_inputs(request, local_toolbox())
    (claim,) = inputs.claims.claims
    assert claim.scenario == inputs.scenarios[0].name
    assert {role: str(shown) for role, shown in claim.expected.items()} == {Role.BASE: "PASSED", Role.ON: "PASSED"}


def test_the_pages_release_line_is_one_file_of_the_users(shown_files, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "data" / "kafka-patch-harness" / "lines"
    folder.parent.mkdir(parents=True)
    folder.symlink_to(shown_files / "builds" / "lines")
    line = line_of("5.0.0")
    assert (line.name, line.java, line.class_files, line.logging.file) == ("5.0", 21, 17, "log4j2.properties")
    assert line.requests["metadata"] == (12, 13)


@pytest.fixture
def jdk(tmp_path) -> Path:
    """Return a JDK whose compiler says how it was called."""
    for name in ("java", "javac"):
        program = tmp_path / "jdk" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text('#!/bin/sh\necho "$@"\n')
        program.chmod(0o755)
    (tmp_path / "jdk" / "release").write_text('JAVA_VERSION="17.0.15"\n')
    return tmp_path / "jdk"


def test_the_pages_builder_is_one_file_among_the_builders(shown_files, jdk, tmp_path, monkeypatch):
    monkeypatch.setattr(own_builders, "__path__", [str(shown_files / "harness/building/builders")])
    builder_registry._import_own.cache_clear()
    try:
        assert "javac-parameters" in builders()
    finally:
        sys.modules.pop("harness.building.builders.javac_parameters", None)
    host = BuildHost(Toolbox(tmp_path / "cache", tmp_path / "runtime", True, jdk), 8, lambda _: None)
    found = open_builder("javac-parameters", host, ExitStack())
    assert found.label == "javac 17.0.15 -parameters"
    done = found.compile(tmp_path, ["A.java"], (), tmp_path / "out", 8)
    assert done.succeeded
    assert "javac-parameters" not in [kind.name for kind in usual_builders()]
    assert "--release 8 -Xlint:-options -parameters" in done.output


def test_every_python_file_of_the_page_passes_the_checks_that_contributions_pass(shown_files):
    # A plan's parameters are there for who writes it: pyproject.toml exempts `scenarios/` from this rule too.
    options = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    for check in (["check", "--extend-per-file-ignores", "leader_pauses.py:ARG001"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *check, *options, str(shown_files)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def trees():
    """Yield each tree of files that the page draws, as the paths that it names."""
    for block in re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S):
        if "── " in block:
            yield list(paths_of(block.splitlines()))


def paths_of(lines):
    above: list[str] = []
    for line in lines:
        drawn = re.match(r"(?P<indent>(?:[│ ]   )*)(?P<branch>[├└]── )?(?P<name>\S+)", line)
        depth = len(drawn["indent"]) // 4 + bool(drawn["branch"])
        above = [*above[:depth], drawn["name"]]
        yield Path(*above).as_posix()


def test_the_trees_that_the_page_draws_are_true(page_files):
    repository, own, series = trees()
    assert [path for path in repository if not (ROOT / path).is_dir()] == []
    assert {path for path in own if path.endswith(".py")} == {
        path for path in page_files if path.startswith("my-scenarios/") and "cgroup" not in path
    }
    assert set(series[1:]) == {path for path in page_files if path.startswith(series[0])}


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)", PAGE)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_before_a_commit_the_same_tools_are_asked_as_by_tox():
    hooks = YAML(typ="safe").load(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    requested = [hook["entry"].removeprefix(".venv/bin/").partition(" --")[0] for hook in hooks]
    tox = (ROOT / "tox.ini").read_text()
    assert requested == ["ruff check", "ruff format", "mypy", "lint-imports"]
    assert [each for each in requested if f"\n    {each}" not in tox] == []


@pytest.mark.parametrize("file", sorted((ROOT / "tests" / "live").glob("test_*.py")), ids=lambda file: file.stem)
def test_what_starts_a_jvm_is_marked_so_that_it_is_not_among_the_quick_tests(file):
    assert re.search(r"^pytestmark = .*pytest\.mark\.live", file.read_text(), re.MULTILINE | re.DOTALL)
