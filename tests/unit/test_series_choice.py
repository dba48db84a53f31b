"""Several patch series of one Kafka version: one is chosen by name, and everything that is its own goes with it."""

import re
import shutil
from pathlib import Path

import pytest

from harness.base import paths
from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.building.pair import series_to_build
from harness.kafka.series import series_folder, series_folders, shipped_series
from harness.model.request import Request
from harness.model.sides import sides_of
from harness.stages.inputs import read_inputs
from harness.toolbox.toolbox import local_toolbox

VERSION = "3.9.1"
SHIPPED = data_root() / "patches" / VERSION / "dynamic-bootstrap"


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a small series, with claims, tests and waivers of its own, beside the shipped one; return its folder."""
    folder = tmp_path / "patches" / VERSION / "second"
    shutil.copytree(SHIPPED, folder.with_name(SHIPPED.name))
    (folder / "tests").mkdir(parents=True)
    (folder / "series").write_text("one.patch\n")
    (folder / "one.patch").write_text("Description: one line\n---\n")
    claims = (SHIPPED / "claims.toml").read_text()
    (folder / "claims.toml").write_text(re.sub(r'(?m)^flag = ".*"', 'flag = "second.key"', claims))
    shutil.copytree(data_root() / "scenarios", tmp_path / "scenarios")
    monkeypatch.setattr(paths, "_INSTALLED", tmp_path)
    return folder


@pytest.mark.usefixtures("second")
def test_without_a_name_several_series_are_reported_and_none_is_guessed():
    with pytest.raises(
        HarnessError, match=r"several patch series for Kafka 3\.9\.1: dynamic-bootstrap, second\."
    ) as caught:
        series_folder(VERSION)
    assert caught.value.hint == "Choose one by --series."


def test_the_only_series_needs_no_name(second):
    (second / "series").unlink()
    assert series_folder(VERSION).name == series_folder(VERSION, "dynamic-bootstrap").name == SHIPPED.name


def test_of_several_series_the_default_needs_no_name(second):
    (second.parent / "default").write_text("second\n")
    assert series_folder(VERSION) == second
    assert series_folder(VERSION, SHIPPED.name) == second.with_name(SHIPPED.name)


def test_a_default_that_is_no_series_is_answered_with_the_nearest(second):
    (second.parent / "default").write_text("secnd\n")
    with pytest.raises(HarnessError, match=r"No patch series is named 'secnd'\. Did you mean second\?"):
        series_folder(VERSION)


def test_of_the_shipped_series_that_of_the_article_is_the_default():
    assert series_folder(VERSION) == SHIPPED
    assert series_folder(VERSION, "dynamic-bootstrap-v2") == SHIPPED.with_name("dynamic-bootstrap-v2")
    assert {f"{VERSION}/dynamic-bootstrap", f"{VERSION}/dynamic-bootstrap-v2"} <= set(shipped_series())


@pytest.mark.parametrize(
    ("version", "made_for"),
    [
        ("3.9.0", "3.9.1"),
        ("3.9.2", "3.9.1"),
        ("3.9.3", "3.9.3"),
        ("3.9.10", "3.9.3"),
        ("4.3.0", "4.3.1"),
        ("4.3.17", "4.3.9"),
    ],
)
def test_a_release_without_a_series_has_that_of_the_last_release_of_its_line_before_it_else_of_the_first(
    tmp_path, monkeypatch, version, made_for
):
    for other in ("3.9.1", "3.9.3", "4.3.1", "4.3.9"):
        shutil.copytree(SHIPPED, tmp_path / "patches" / other / "dynamic-bootstrap")
    shutil.copytree(data_root() / "builds", tmp_path / "builds")
    monkeypatch.setattr(paths, "_INSTALLED", tmp_path)
    assert series_folder(version) == tmp_path / "patches" / made_for / "dynamic-bootstrap"


def test_a_release_has_no_series_of_another_line():
    assert series_folders("4.0.2") == series_folders("3.8.1") == ()


@pytest.mark.usefixtures("second")
def test_a_name_that_nobody_has_is_answered_with_the_nearest():
    with pytest.raises(HarnessError, match=r"No patch series is named 'secnd'\. Did you mean second\?"):
        series_folder(VERSION, "secnd")


def test_the_chosen_series_brings_its_patches_claims_and_tests(second):
    request = Request(series="second")
    assert [patch.name for patch in series_to_build(sides_of(request, str).candidate).patches] == ["one.patch"]
    inputs = read_inputs(request, local_toolbox())
    setup = inputs.setup
    assert inputs.claims.flag == setup.flag_key == "second.key"
    assert (setup.series, setup.claims, setup.waivers) == (str(second), str(second / "claims.toml"), "")


def test_its_waivers_count_unless_the_user_names_others(second, tmp_path):
    (second / "waivers.toml").touch()
    assert read_inputs(Request(series="second"), local_toolbox()).setup.waivers == str(second / "waivers.toml")
    mine = Request(series="second", waivers=tmp_path / "mine.toml")
    assert read_inputs(mine, local_toolbox()).setup.waivers == str(tmp_path / "mine.toml")


@pytest.mark.usefixtures("second")
def test_a_jar_of_no_claims_needs_no_choice():
    assert read_inputs(Request(claims="none"), local_toolbox()).setup.series == ""


@pytest.mark.parametrize(
    ("suite", "asked", "elsewhere"),
    [
        ("", {"turn2", "new-mechanism"}, {"--suite incident"}),
        ("incident", {"voters-replaced", "voters-replaced-by-name", "turn1-then-restart"}, {"--suite bootstrap"}),
        ("gaps", set(), {"--suite bootstrap", "--suite incident"}),
    ],
)
def test_a_claim_about_a_scenario_of_another_suite_is_asked_there_and_named_here(suite, asked, elsewhere):
    inputs = read_inputs(Request(suite=suite), local_toolbox())
    assert {claim.scenario for claim in inputs.claims.claims} == asked
    assert asked <= {scenario.name for scenario in inputs.scenarios}
    assert set(inputs.claims_elsewhere.values()) == elsewhere


def test_where_scenarios_are_named_what_is_left_out_stays_a_gap():
    inputs = read_inputs(Request(scenarios=("turn2",)), local_toolbox())
    assert (len(inputs.claims.claims), inputs.claims_elsewhere) == (5, {})


@pytest.mark.parametrize(("suite", "asked"), [("", {"mine"}), ("bootstrap", set())])
def test_a_claim_of_ones_own_is_asked_whichever_suite_its_scenario_is_of(tmp_path, suite, asked):
    file = tmp_path / "claims.toml"
    file.write_text(
        'jar = "kafka-raft"\n[[claim]]\nid = "mine"\nsays = "It does."\nsource = "here"\nscenario = "leader-loss"\n'
        '[claim.expect]\nbase = "FAILED(observer_follows)"\non = "PASSED"\n'
    )
    inputs = read_inputs(Request(claims=str(file), suite=suite), local_toolbox())
    assert {claim.id for claim in inputs.claims.claims} == asked
    assert {"turn2"} | ({"leader-loss"} if asked else set()) <= {scenario.name for scenario in inputs.scenarios}
    assert [*inputs.claims_elsewhere] == ([] if asked else ["mine"])
