"""The matrix of a night: every combination once, as a request that a command line could have made."""

from pathlib import Path

import pytest
from test_judge import ARMS, declare

from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.judge.decision import decide
from harness.kafka.lock import locked_versions
from harness.kafka.release_lines import Mode, line_of
from harness.kafka.series import series_folder, shipped_series
from harness.model.arms import choose_arms
from harness.model.request import Request
from harness.model.setup import Profile
from harness.model.verdict import ReasonSource
from harness.model.waivers import load_waivers
from harness.nightly.night_matrix import load_matrix
from harness.scenario.registry import load_all, select
from harness.scenario.steps import Expect
from harness.toolbox.lockfile import shipped_locks

SMALL = """
schema = 1
[builds.mine]
jar = "jars/my.jar"
claims = "none"
[jvms.temurin-17]
home = "${JAVA_17}"
[[ask]]
builds = ["mine"]
flags = ["both", "on"]
jvms = ["bundled", "temurin-17"]
profiles = ["fast", "production"]
suites = ["bootstrap"]
repeats = 3
"""


@pytest.fixture
def load(tmp_path):
    """Return a function that loads a matrix from text."""

    def read(text, **environment):
        (tmp_path / "matrix.toml").write_text(text)
        return load_matrix(tmp_path / "matrix.toml", environment)

    return read


def test_every_combination_is_one_verification_with_an_id_that_says_what_it_is(load):
    names = [each.id for each in load(SMALL).verifications]
    assert len(names) == len(set(names)) == 8
    assert names[0] == "mine_both_bundled_fast_bootstrap"
    assert "mine_on_temurin-17_production_bootstrap" in names


def test_a_verification_whose_name_no_folder_may_have_is_refused_before_anything_runs(load):
    many = ", ".join(f'"chaos-{seed}"' for seed in range(11, 32))
    with pytest.raises(HarnessError, match=r"of \d{3} characters is no name of a folder"):
        load(SMALL.replace('suites = ["bootstrap"]', f"scenarios = [{many}]"))


def test_a_repository_on_this_machine_is_named_from_the_matrix(load, tmp_path):
    (tmp_path / "kafka").mkdir()
    for git in ("kafka@trunk", "https://example.org/kafka@trunk"):
        (one, *_) = load(SMALL.replace('jar = "jars/my.jar"', f'git = "{git}"')).verifications
        assert one.request.git == (f"{tmp_path}/{git}" if git[0] == "k" else git)


def test_a_verification_is_a_request_with_paths_from_the_matrix_and_java_from_the_environment(load, tmp_path):
    found = {each.id: each.request for each in load(SMALL, JAVA_17="/opt/17").verifications}
    request = found["mine_on_temurin-17_production_bootstrap"]
    assert request == Request(
        jar=tmp_path / "jars/my.jar",
        claims="none",
        arms=("base", "on"),
        java_home=Path("/opt/17"),
        profile=Profile.PRODUCTION,
        suite="bootstrap",
        repeats=3,
    )
    assert found["mine_both_bundled_fast_bootstrap"].java_home is None


def test_a_build_can_be_a_whole_kafka_against_another(load, tmp_path):
    text = SMALL.replace('jar = "jars/my.jar"\nclaims = "none"', 'dist = "acme.tgz"\nbase_kafka = "3.9.1"')
    assert {each.request.dist for each in load(text).verifications} == {tmp_path / "acme.tgz"}
    assert {each.request.base_kafka for each in load(text).verifications} == {"3.9.1"}


def test_a_build_can_name_one_of_several_series(load):
    (only,) = load('schema=1\n[builds.a]\nseries="second"\n[[ask]]\nbuilds=["a"]\n').verifications
    assert only.request == Request(series="second", suite="bootstrap", arms=only.request.arms)


def test_a_java_that_this_machine_lacks_stays_by_its_variable_so_that_its_verification_can_say_so(load):
    assert any("${JAVA_17}" in str(each.request.java_home) for each in load(SMALL).verifications)


def test_scenarios_stand_for_a_suite_in_the_id(load):
    (only,) = load('schema=1\n[builds.a]\n[[ask]]\nbuilds=["a"]\nscenarios=["turn1", "turn2"]\n').verifications
    assert only.id == "a_both_bundled_fast_turn1+turn2"
    assert only.request.scenarios == ("turn1", "turn2")


def test_a_table_may_ask_for_idle_minutes_and_for_simulations(load):
    (only,) = load('schema=1\n[builds.a]\n[[ask]]\nbuilds=["a"]\nsoak="10m"\nsimulate="90s"\n').verifications
    assert (only.request.soak, only.request.simulate) == ("10m", "90s")
    with pytest.raises(HarnessError, match=r"ask\[0\].simulate: 'long' does not match"):
        load('schema=1\n[builds.a]\n[[ask]]\nbuilds=["a"]\nsimulate="long"\n')


def test_known_seconds_and_the_waivers_are_taken_from_the_file(load, tmp_path):
    text = 'schema=1\nwaivers="w.toml"\n[builds.a]\n[[ask]]\nbuilds=["a"]\n'
    matrix = load(f'{text}[seconds]\n"a_both_bundled_fast_bootstrap"=240\n')
    assert [each.seconds for each in matrix.verifications] == [240.0]
    assert matrix.waivers == tmp_path / "w.toml" == matrix.verifications[0].request.waivers


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("schema = 1", "'builds' is a required property"),
        ("schema = 2\n[builds.a]\n[[ask]]\nbuilds=['a']", "schema: 1 was expected"),
        ("schema = 1\n[builds.a]\n[[ask]]\nbuilds=['b']", "no build is named b; there are: a"),
        ("schema = 1\n[builds.a]\n[[ask]]\nbuilds=['a']\njvms=['x']", "no jvm is named x; there are: none"),
        ("schema = 1\n[builds.a]\n[[ask]]\nbuilds=['a']\nprofiles=['slow']", r"ask\[0\].profiles\[0\]: 'slow' is not"),
        ("schema = 1\n[builds.a]\n[[ask]]\nbuilds=['a']\nrepeats=0", "0 is less than the minimum"),
        ("schema = 1\n[builds.a]\n[[ask]]\nbuilds=['a']\n[[ask]]\nbuilds=['a']", "is there twice"),
        ("schema = 1\n[builds.a]\n[[ask]]\nbuilds=['a']\n[seconds]\nx=1", "there is no verification x"),
        ("schema = 1\n[builds.'../a']\n[[ask]]\nbuilds=['../a']", "does not match"),
        ("schema = 1\n[builds.a]\njars='x'\n[[ask]]\nbuilds=['a']", "'jars' was unexpected"),
        ("schema = [", "Invalid"),
    ],
)
def test_a_mistake_in_the_file_is_reported_with_its_place(load, text, sentence):
    with pytest.raises(HarnessError, match=sentence) as shown:
        load(text)
    assert "matrix.toml" in shown.value.message


def shipped(name):
    return load_matrix(data_root() / "builds" / name).verifications


def locked(mode=None):
    """Return every release that is locked, or those whose nodes are started in a mode."""
    return {each for each in locked_versions([shipped_locks()]) if mode in (None, *line_of(each).modes)}


def lines(versions):
    return {line_of(each).name for each in versions if each}


def test_the_shipped_matrix_asks_both_profiles_about_the_shipped_series():
    series = [each.request for each in shipped("matrix.toml") if each.id.startswith("series-3.9.1_")]
    assert {request.profile for request in series} == set(Profile)
    assert {request.repeats for request in series} == {3}


def test_the_shipped_matrix_asks_every_line_the_newest_series_and_a_build_in_a_container():
    requests = [each.request for each in shipped("matrix.toml")]
    newest = max((data_root() / "patches").iterdir(), key=lambda path: tuple(map(int, path.name.split("."))))
    asked = lines(each for request in requests for each in (request.base_kafka, request.kafka_version))
    assert asked == lines(locked())
    assert any(request.kafka_version == newest.name and not request.base_kafka for request in requests)
    assert any(request.builder == "gradle-container" for request in requests)


def test_the_shipped_matrix_asks_every_suite_that_a_patched_build_may_have_made_worse():
    asked = {(each.request.suite, line_of(each.request.kafka_version).name) for each in shipped("matrix.toml")}
    wanted = {("faults", "3.9"), ("elections", "3.9"), ("topic-ids", "3.9"), ("faults", "4.3"), ("chaos", "3.9")}
    assert wanted <= asked


def test_the_shipped_matrix_asks_every_series_by_a_suite_that_has_what_it_claims():
    requests = [each.request for each in shipped("matrix.toml") if not each.request.base_kafka]
    asked = [each for each in requests if each.suite in ("bootstrap", "standard")]
    folders = {series_folder(each.kafka_version, each.series) for each in asked}
    assert {f"{folder.parent.name}/{folder.name}" for folder in folders} == {*shipped_series()}


def test_chaos_in_a_matrix_is_the_seeds_that_a_command_line_asks_or_those_that_are_named(load):
    (suite,) = load('schema=1\n[builds.a]\n[[ask]]\nbuilds=["a"]\nsuites=["chaos"]\n').verifications
    (named,) = load('schema=1\n[builds.a]\n[[ask]]\nbuilds=["a"]\nscenarios=["chaos-17"]\n').verifications
    found = [select(load_all(), each.scenarios, each.suite, each.seeds) for each in (suite.request, named.request)]
    assert [[each.name for each in some] for some in found] == [[f"chaos-{n}" for n in range(1, 11)], ["chaos-17"]]


def test_the_table_of_versions_asks_every_line_beside_3_9_1_by_the_suite_that_has_all_scenarios_and_what_lines_fixed():
    requests = [each.request for each in shipped("versions.toml")]
    asked = {request.kafka_version for request in requests}
    assert asked <= locked(Mode.KRAFT), "a release that is locked later joins when the table is made anew"
    assert lines(asked) == lines(locked(Mode.KRAFT))
    assert {request.base_kafka for request in requests} == {"3.9.1"}
    assert {each.kafka_version for each in requests if each.suite == "standard"} == asked
    assert {each.kafka_version for each in requests if {"observer-held", "observer-cut"} <= {*each.scenarios}} == asked
    bootstrap, standard = ({each.name for each in select(load_all(), (), suite)} for suite in ("bootstrap", "standard"))
    assert bootstrap < standard, "one verification answers both"


def test_the_shipped_matrix_takes_the_ways_through_raft_on_both_lines_and_asks_both_series_after_the_gaps():
    asked = {(each.request.suite, each.request.kafka_version, each.request.series) for each in shipped("matrix.toml")}
    assert {("raft", "3.9.1", ""), ("raft", "4.3.1", ""), ("raft", "3.9.1", "dynamic-bootstrap-v2")} <= asked
    assert {("gaps", "3.9.1", ""), ("gaps", "3.9.1", "dynamic-bootstrap-v2")} <= asked


def test_what_is_waived_in_the_shipped_matrix_is_an_expectation_of_a_scenario_that_it_asks():
    matrix = load_matrix(data_root() / "builds" / "matrix.toml")
    for waiver in load_waivers(matrix.waivers):
        verification, scenario, arm = waiver.where.split("/")
        (request,) = [each.request for each in matrix.verifications if each.id == verification]
        plan = load_all()[scenario].plan()
        named = {step.named for step in plan.steps if isinstance(step, Expect)}
        assert (request.suite in load_all()[scenario].suites, arm) == (True, "patched-on")
        assert waiver.what in {f"FAILED({each})" for each in named}


@pytest.mark.parametrize("name", ["matrix.toml", "versions.toml"])
def test_no_verification_of_a_shipped_matrix_lacks_an_arm_without_which_nothing_is_shipped(name):
    def lacks(request):
        verdict = decide(declare("turn1", arms=choose_arms(ARMS, request.arms)), [], None)
        return [each.sentence for each in verdict.reasons if each.source is ReasonSource.ARM]

    assert {each.id: lacks(each.request) for each in shipped(name) if lacks(each.request)} == {}


@pytest.mark.parametrize("name", ["matrix.toml", "versions.toml"])
def test_a_shipped_matrix_says_what_each_verification_costs(name):
    assert {each.id: each.seconds for each in shipped(name) if not each.seconds} == {}
