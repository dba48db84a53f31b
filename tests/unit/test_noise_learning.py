"""Noise is learned from base's runs alone, is known before the first run, and is kept beside what is judged by it."""

from dataclasses import replace
from io import StringIO

import polars as pl
import pytest
from rich.console import Console
from sample_run import ARMS, STOCK, write_sample

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.base.progress import Reporter
from harness.cli import noise as noise_command
from harness.logs import noise_store
from harness.logs.compare.observed_run import ObservedRun
from harness.logs.count_cache import COUNTED, run_folder
from harness.logs.learning import base_arms, learn_runs
from harness.logs.log_diff import node_logs
from harness.logs.noise_book import digest_of_jars, runs_like, runs_of_record
from harness.logs.noise_store import add_runs, learned_runs, noise_for_writing, own_noise, shipped_noise
from harness.logs.read.pipeline import FileCounts
from harness.logs.results import write
from harness.model.arms import Arm, Kafka, Role
from harness.model.log_totals import FileTotal
from harness.model.request import Request
from harness.model.runs import Outcome
from harness.model.seal import RunInputs, Seal
from harness.model.setup import Setup
from harness.rundir.directory import RunDirectory
from harness.stages.known_noise import grow_noise, keep_noise, learn_noise, noise_of
from harness.toolbox.toolbox import Toolbox

QUIET = Reporter(Console(quiet=True))


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    def started(*_rest):
        raise AssertionError("what a diff has counted is not counted again")

    monkeypatch.setattr("harness.logs.learning.opened", started)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.setattr(noise_store, "data_root", lambda: tmp_path / "data")
    monkeypatch.setattr(noise_store, "user_data_root", lambda: tmp_path / "user")
    return tmp_path


@pytest.fixture
def directory(folders):
    return compared(RunDirectory(write_sample(folders / "run")))


@pytest.fixture
def toolbox(tmp_path):
    return Toolbox(tmp_path, tmp_path)


def compared(directory):
    """Leave seals and counts as runs and a diff do."""
    directory.setup.write(Setup(""))
    for run in directory.runs():
        inputs = RunInputs("1" * 64, STOCK.jar_sha256, (), "21.0.8", "fast", 1)
        run.seal.write(Seal(inputs, sha256_of(run.journal)))
    nodes = node_logs(directory)
    files = {name: counted(name) for node in nodes for name in node.files}
    write(directory.logs, run_folder(directory.logs, "run"), nodes, files, (), directory.logs.findings.read())
    return directory


def counted(name):
    texts = {"phase": "", "level": "WARN", "logger": "a.B", "part": "event", "template": f"logged in {name}"}
    row = (
        dict.fromkeys(COUNTED)
        | texts
        | {"count": 3, "line": 7, "excerpt": "x", "statement": "", "wording": "", "values": []}
    )
    return FileCounts(pl.DataFrame([row], schema=COUNTED), FileTotal(name, "%m%n", 1, 20, 1, 1, 20), ())


def test_every_decided_run_of_base_is_learned_and_none_of_the_candidates_jar(directory, toolbox):
    found = learn_runs(directory, toolbox, QUIET.report)
    base = [result for result in directory.results() if result.arm == "stock"]
    assert {(run.scenario, run.outcome) for run in found} == {(result.scenario, result.label) for result in base}
    texts = {line.text for observed in found.values() for line in observed.counts}
    assert all("/stock/" in text for text in texts)
    first = next(run for run in found if run.scenario == "turn2")
    assert (first.topology, first.profile, first.kafka_version, first.released) == ("1 observer", "fast", "3.9.1", True)


@pytest.mark.parametrize("outcome", [Outcome.INCONCLUSIVE, Outcome.BROKEN, Outcome.UNSUPPORTED])
def test_a_run_that_ended_before_its_end_is_not_learned(directory, toolbox, outcome):
    (result,) = [each for each in directory.results() if (each.scenario, each.arm) == ("turn2", "stock")]
    directory.run(result.key).result.write(replace(result, outcome=outcome))
    assert "turn2" not in {run.scenario for run in learn_runs(directory, toolbox, QUIET.report)}


def with_plan(directory, plan):
    """Say of every run that it was made by a plan."""
    for run in directory.runs():
        seal = run.seal.read()
        run.seal.write(replace(seal, inputs=replace(seal.inputs, plan=plan * 64)))


@pytest.mark.parametrize("place", ["in the folder", "before the first run"])
def test_runs_by_another_plan_or_with_other_server_properties_do_not_tell_what_nodes_log(directory, toolbox, place):
    """A seal's digest of the plan has its steps, a soak among them, and the server properties of the user's own."""
    grow_noise(directory, toolbox, QUIET)
    run_anew(directory)
    for plan, is_known in (("1", True), ("2", False)):
        with_plan(directory, plan)
        found = noise_of(directory) if place == "in the folder" else keep_noise(directory, {plan * 64, "3" * 64})
        assert bool(found.runs) is is_known
        directory.logs.noise.path.unlink()


@pytest.mark.parametrize(
    ("soak", "overlay", "is_known"), [("", {}, True), ("10m", {}, False), ("", {"num.io.threads": "7"}, False)]
)
def test_runs_of_which_no_plan_was_recorded_count_where_nothing_is_unusual(directory, toolbox, soak, overlay, is_known):
    with_plan(directory, "")
    grow_noise(directory, toolbox, QUIET)
    run_anew(directory)
    with_plan(directory, "1")
    directory.setup.write(Setup("", overlay=overlay))
    directory.request.write(replace(directory.request.read_if_exists() or Request(), soak=soak))
    assert bool(noise_of(directory).runs) is is_known


def test_base_verified_against_itself_has_two_arms_to_learn_from(directory):
    declaration = directory.declaration.read()
    itself = Arm("jar", Role.ON, replace(STOCK, name="jar", builder="given"), "absent")
    again = replace(declaration, arms=(ARMS[0], itself))
    assert [arm.name for arm in base_arms(again, Setup(""))] == ["stock", "jar"]
    with_settings = Setup("", settings={"jar": {"num.io.threads": "7"}})
    assert [arm.name for arm in base_arms(again, with_settings)] == ["stock"]
    assert base_arms(replace(declaration, arms=ARMS[1:]), Setup("")) == []
    kafka = replace(itself, build=replace(itself.build, kafka=Kafka("3.9.1", "", "r", {"r": "1", "lz4.jar": "2"})))
    assert [arm.name for arm in base_arms(replace(again, arms=(ARMS[0], kafka)), Setup(""))] == ["stock"]


KAFKA = Kafka("3.9.1", "", "kafka-raft-3.9.1.jar", {"kafka-raft-3.9.1.jar": STOCK.jar_sha256, "lz4.jar": "22" * 32})


def made_of(directory, kafka):
    """Let the runs have been of a Kafka."""
    declaration = directory.declaration.read()
    arms = tuple(replace(arm, build=replace(arm.build, kafka=kafka)) for arm in declaration.arms)
    directory.declaration.write(replace(declaration, arms=arms))


@pytest.mark.parametrize(("place", "released"), [("", True), ("/opt/kafka.tgz", False)], ids=["Apache's", "somebody's"])
def test_only_apaches_own_distribution_is_learned_as_a_release(directory, toolbox, place, released):
    made_of(directory, replace(KAFKA, place=place))
    found = learn_runs(directory, toolbox, QUIET.report)
    assert {run.released for run in found} == {released}
    assert {run.jars_sha256 for run in found} == {digest_of_jars(replace(STOCK, kafka=KAFKA))}


def test_what_somebodys_own_kafka_logs_is_noise_for_it_and_for_no_other(directory, toolbox):
    made_of(directory, replace(KAFKA, place="/opt/kafka"))
    grow_noise(directory, toolbox, QUIET)
    run_anew(directory)
    assert len(noise_of(directory).runs) == 3
    for other in (replace(KAFKA, place="/opt/kafka", jars={**KAFKA.jars, "lz4.jar": "33" * 32}), Kafka()):
        made_of(directory, other)
        directory.logs.noise.path.unlink()
        assert noise_of(directory).runs == ()


NEWER = Kafka("3.9.2", "", "kafka-raft-3.9.2.jar", {"kafka-raft-3.9.2.jar": "44" * 32, "lz4.jar": "55" * 32})
OF_NEWER = replace(STOCK, name="kafka", kafka_version="3.9.2", jar_sha256="44" * 32, kafka=NEWER)


def of_two_kafkas(directory):
    """Let the runs have been of Apache's Kafka beside a newer one."""
    made_of(directory, KAFKA)
    declaration = directory.declaration.read()
    candidate = Arm("kafka", Role.ON, OF_NEWER, "absent")
    directory.declaration.write(replace(declaration, arms=(declaration.arms[0], candidate)))
    return directory.declaration.read().arms


def test_what_a_newer_kafka_is_known_to_log_is_its_own_noise_and_none_of_bases(directory, toolbox):
    grow_noise(directory, toolbox, QUIET)
    (own, *_) = learn_runs(directory, toolbox, QUIET.report).items()
    base, candidate = of_two_kafkas(directory)
    newer = {
        replace(own[0], id=f"{n:064}", kafka_version="3.9.2", jars_sha256=digest_of_jars(OF_NEWER)): own[1]
        for n in (901, 902)
    }
    add_runs(own_noise("3.9"), "3.9", newer)
    run_anew(directory)
    book = runs_of_record(noise_of(directory))
    nodes = node_logs(directory)
    assert len(runs_like(book, nodes, base, OF_NEWER)) == 3
    assert len(runs_like(book, nodes, replace(candidate, name="stock"), STOCK)) == 2


def test_runs_like_an_arms_are_found_whichever_repeats_another_arm_has(directory, toolbox):
    """A spare has the number of a repeat that other arms do not have."""
    grow_noise(directory, toolbox, QUIET)
    book = learn_runs(directory, toolbox, QUIET.report)
    base, nodes = directory.declaration.read().arms[0], node_logs(directory)
    assert runs_like(book, nodes, base)
    later = [replace(node, arm="z", repeat=node.repeat + 7) for node in nodes if node.arm == base.name]
    assert runs_like(book, [*nodes, *later], base) == runs_like(book, nodes, base)


def test_the_copy_holds_what_is_known_of_two_release_lines(directory, toolbox):
    declaration = directory.declaration.read()
    run = replace(next(iter(learn_runs(directory, toolbox, QUIET.report))), kafka_version="4.3.1", id="9" * 64)
    add_runs(own_noise("4.3"), "4.3", {run: ObservedRun(run.scenario, {})})
    newest = replace(OF_NEWER, kafka_version="4.3.1", kafka=replace(NEWER, version="4.3.1"))
    made_of(directory, KAFKA)
    base = directory.declaration.read().arms[0]
    arms = (base, Arm("kafka", Role.ON, newest, "absent"))
    directory.declaration.write(replace(declaration, arms=arms))
    noise = noise_of(directory)
    assert (noise.line, [run.kafka_version for run in noise.runs]) == ("3.9 and 4.3", ["4.3.1"])
    assert runs_like(runs_of_record(noise), node_logs(directory), base, newest) == []


def test_the_copy_in_a_run_directory_is_made_once_and_read_from_then_on(directory, toolbox):
    assert noise_of(directory).runs == ()
    grow_noise(directory, toolbox, QUIET)
    run_anew(directory)
    assert noise_of(directory).runs == ()
    directory.logs.noise.path.unlink()
    assert {run.scenario for run in noise_of(directory).runs} == {"new-mechanism", "turn1", "turn2"}


def run_anew(directory):
    """Give the runs other journals: what was learned of the former is of other runs now."""
    for number, run in enumerate(directory.runs()):
        run.seal.write(replace(run.seal.read(), journal=f"{number:064}"))


def test_runs_that_are_judged_are_not_among_those_that_they_are_judged_by(directory, toolbox):
    grow_noise(directory, toolbox, QUIET)
    assert noise_of(directory).runs == ()


def test_the_copy_holds_what_can_be_compared_and_no_more(directory, toolbox):
    grow_noise(directory, toolbox, QUIET)
    run_anew(directory)
    declaration = directory.declaration.read()
    only = tuple(each for each in declaration.scenarios if each.name == "turn2")
    directory.declaration.write(replace(declaration, scenarios=only))
    assert {run.scenario for run in noise_of(directory).runs} == {"turn2"}
    directory.logs.noise.path.unlink()
    base = replace(STOCK, builder="given", jar_sha256="ee" * 32)
    arms = (replace(ARMS[0], build=base), *ARMS[1:])
    directory.declaration.write(replace(declaration, arms=arms))
    assert noise_of(directory).runs == ()


def test_what_is_judged_names_the_copy_among_its_evidence(directory):
    noise_of(directory)
    assert directory.logs.noise.path in directory.evidence([])


def test_base_runs_are_added_to_what_this_user_knows_and_a_second_time_change_nothing(directory, toolbox):
    grow_noise(directory, toolbox, QUIET)
    before = own_noise("3.9").read_bytes()
    grow_noise(directory, toolbox, QUIET)
    assert own_noise("3.9").read_bytes() == before
    assert len(learned_runs(own_noise("3.9"))) == 3


def test_what_cannot_be_learned_is_reported_and_ends_nothing(directory, toolbox):
    own_noise("3.9").parent.mkdir(parents=True)
    own_noise("3.9").write_bytes(b"damaged")
    console = Console(record=True, width=200, file=StringIO())
    grow_noise(directory, toolbox, Reporter(console))
    assert "the noise of base's runs was not learned" in console.export_text()


def test_learning_refuses_a_result_that_was_changed(directory, toolbox, folders):
    run = next(run for run in directory.runs() if run.key.arm == "stock")
    run.journal.write_text(run.journal.read_text() + "\n")
    with pytest.raises(HarnessError, match="is not the journal that was written in this run"):
        learn_noise([directory.path], "3.9.1", folders / "x.json.gz", toolbox, QUIET)


def test_learning_adds_to_a_file_and_says_what_it_holds(directory, toolbox, folders):
    learned = learn_noise([directory.path, directory.path], "3.9.1", folders / "n" / "x.json.gz", toolbox, QUIET)
    assert len(learned.runs) == 3
    assert learned.line == "3.9"


def test_noise_is_learned_and_shown_by_commands(directory, folders, capsys, monkeypatch):
    monkeypatch.setattr(noise_store, "is_checkout", lambda: True)
    assert noise_command.learn([directory.path]) == 0
    assert shipped_noise("3.9").is_file()
    assert "3 runs are known" in capsys.readouterr().out
    assert noise_command.show() == 0
    shown = capsys.readouterr().out
    assert "turn2 (1 observer, fast, plan 111111111111): 1 runs of 3.9.1" in shown
    assert "1 of 1 runs, at most    3 times  WARN  logged in runs/turn2/stock/1" in shown


def test_what_is_learned_goes_to_the_users_own_where_the_shipped_is_replaced_as_a_whole(folders, monkeypatch):
    monkeypatch.setattr(noise_store, "is_checkout", lambda: False)
    assert noise_for_writing("3.9") == own_noise("3.9")


def test_a_line_of_which_nothing_is_known_says_how_to_learn_it(folders):
    with pytest.raises(HarnessError, match=r"No noise of Kafka 3\.9 is known") as error:
        noise_command.show("3.9.1")
    assert "harness noise learn" in error.value.hint
