"""A scenario builds a plan in words and starts nothing."""

import re
import time

import pytest

from harness.base.errors import HarnessError
from harness.kafka.release_lines import line_of
from harness.scenario import is_up, kraft, scenario
from harness.scenario import verbs as registered
from harness.scenario.bounds import FetchTimeouts, in_force, seconds
from harness.scenario.conditions.follows_leader import FollowsLeader
from harness.scenario.registry import load_all, load_file, select
from harness.scenario.steps import Do, Expect, Fault, Guard, describe_step, described

LINE = line_of("3.9.1")
USUAL = in_force({}, LINE.timeouts)
KNOWN = load_all()
SAYS_WHO_LEADS = ("has_leader", "has_new_leader", "voters_caught_up", "leader_is_moved_and_registered")


def test_the_suite_bootstrap_is_the_articles_three_runs():
    assert [s.name for s in select(KNOWN, [], "bootstrap")] == ["new-mechanism", "turn1", "turn2"]


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_building_a_plan_is_quick_and_starts_nothing(name):
    began = time.process_time()
    plan = KNOWN[name].plan()
    assert time.process_time() - began < 0.5
    assert "expect" in [kind for kind, _ in described(plan.steps, USUAL)]


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_no_two_expectations_of_a_scenario_have_the_same_name(name):
    named = [step.named for step in KNOWN[name].plan().steps if isinstance(step, Expect)]
    assert sorted(named) == sorted(set(named))


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_whoever_is_expected_to_follow_has_a_leader_to_follow_first(name):
    """Else a lost quorum would look like a lost observer."""
    led = False
    for step in KNOWN[name].plan().steps:
        match step:
            case Do(action):
                led = led and not isinstance(action, Fault)
            case Guard(condition) | Expect(condition) if condition.name in SAYS_WHO_LEADS:
                led = True
            case Guard(FollowsLeader()):  # that an observer follows says that there is one
                led = True
            case Expect(FollowsLeader()):
                assert led, step.named
            case _:
                pass


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_plan_can_be_read_in_words(name):
    words = [describe_step(step, USUAL) for step in KNOWN[name].plan().steps]
    assert all(kind and text for kind, text in words)


@pytest.mark.parametrize("name", ["new-mechanism", "turn1", "turn2"])
def test_the_articles_runs_ask_whether_the_observer_recovers(name):
    words = [describe_step(step, USUAL) for step in KNOWN[name].plan().steps]
    assert ("expect", "the observer follows the leader (within 15 s) as observer_recovers") in words


def test_the_standard_suite_asks_what_bootstrap_asks_and_more():
    standard = {s.name for s in select(KNOWN, [], "standard")}
    assert standard > {s.name for s in select(KNOWN, [], "bootstrap")}
    assert {"leader-loss", "snapshots", "one-voter", "two-voters", "busy-cluster", "dedicated-controllers"} < standard
    assert {"static-voters", "secured"} < standard


def test_bounds_in_fetch_time_outs_follow_the_nodes_own():
    slow = in_force({"controller.quorum.fetch.timeout.ms": "10000"}, LINE.timeouts)
    assert (FetchTimeouts(1.5).seconds(USUAL), FetchTimeouts(1.5).seconds(slow)) == (7, 19)


def test_the_recovery_bound_follows_from_the_nodes_own_time_outs():
    plan = KNOWN["turn2"].plan()
    (asked,) = [step for step in plan.steps if isinstance(step, Expect) and step.named == "observer_recovers"]
    slow = {"controller.quorum.fetch.timeout.ms": "10000", "controller.quorum.request.timeout.ms": "4000"}
    assert describe_step(asked, USUAL)[1].endswith("(within 15 s) as observer_recovers")
    assert describe_step(asked, in_force(slow, LINE.timeouts))[1].endswith("(within 35 s) as observer_recovers")


def test_turn2_moves_the_last_voter_and_turn1_does_not():
    moved = {
        name: sum("on new ports" in describe_step(step, USUAL)[1] for step in KNOWN[name].plan().steps)
        for name in ("turn1", "turn2")
    }
    assert moved == {"turn1": 2, "turn2": 3}


@pytest.mark.parametrize(("text", "value"), [("500ms", 0.5), ("30s", 30.0), ("3m", 180.0), ("1.5s", 1.5)])
def test_durations_are_written_with_their_unit(text, value):
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["3", "3 s", "-1s", "s", "3h", ""])
def test_a_duration_without_a_unit_is_refused(text):
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)


def test_a_scenario_is_named_after_its_function_and_asks_its_docstring():
    @scenario(kraft(controllers=1, observers=0), suite="s", budget="1m")
    def some_question(plan, cluster):
        """Does it
        hold?"""

    assert (some_question.name, some_question.question) == ("some-question", "Does it hold?")


def test_an_unknown_scenario_is_answered_with_the_nearest_name():
    with pytest.raises(HarnessError, match=r"No scenario is named 'turn3'\. Did you mean turn"):
        select(KNOWN, ["turn3"], "bootstrap")


def test_an_unknown_suite_is_answered_with_what_there_is():
    with pytest.raises(HarnessError, match=r"No suite is named 'xyz'\. There are: bootstrap"):
        select(KNOWN, [], "xyz")


def test_a_scenario_file_that_cannot_be_imported_is_named(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    with pytest.raises(HarnessError, match=r"broken\.py cannot be imported: line 1: ModuleNotFoundError"):
        load_file(broken)


ACTION = """
from harness.scenario.verbs import action

class Wave:
    description = "wave"

    def perform(self, world):
        pass

    def __repr__(self):
        return "Wave()"

MADE = Wave()

@action
def wave():
    '''Wave.'''
    return MADE
"""
SCENARIO = """
from harness.scenario import is_up, kraft, scenario, wave
from .zebra import MADE

assert wave() is MADE

@scenario(kraft(controllers=1, observers=0), suite="s", budget="1m")
def greets(plan, cluster):
    '''Does it greet?'''
    plan.expect(is_up(), within="30s", named="greeted")
"""


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Return a folder with a scenario and, in a file that sorts behind it, the verb that it takes."""
    monkeypatch.setattr(registered, "_verbs", dict(registered.verbs()))
    (tmp_path / "zebra.py").write_text(ACTION)
    (tmp_path / "greets.py").write_text(SCENARIO)
    return tmp_path


def test_a_scenario_takes_verbs_of_files_beside_it_whatever_they_are_called_and_each_is_imported_once(own_folder):
    assert load_all([own_folder])["greets"].question == "Does it greet?"


def test_a_scenario_file_that_is_named_alone_takes_them_too(own_folder):
    assert [each.name for each in load_file(own_folder / "greets.py")] == ["greets"]


def test_a_file_of_ones_own_may_bear_the_name_of_an_installed_module(own_folder):
    (own_folder / "greets.py").rename(own_folder / "json.py")
    assert "greets" in load_all([own_folder])


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("plan.do(wave)", "TypeError: wave is handed over without being called: write wave(…)."),
        ("plan.gaurd(wave())", "AttributeError: 'Plan' object has no attribute 'gaurd'."),
        ("raise SystemExit(0)", "SystemExit: 0."),
        ("plan.guard(wave(), within=60)", "ValueError: 60 is not a duration; write 500ms, 30s or 3m."),
        ("plan.guard(wave(), within='60s')", "TypeError: Wave() is not a condition."),
        ("plan.do(is_up())", f"TypeError: {is_up()!r} is not an action."),
        ("plan.do('stop')", "TypeError: 'stop' is not an action."),
        ("plan.background(wave())", "TypeError: Wave() is not a load."),
        ("plan.expect(is_up(), within=None, named='x')", 'TypeError: within=None is no time: write within="30s".'),
    ],
)
def test_a_mistake_in_a_plan_is_named_with_its_line_as_soon_as_the_file_is_read(own_folder, line, mistake):
    file = own_folder / "greets.py"
    file.write_text(f"{SCENARIO}    {line}\n")
    with pytest.raises(HarnessError) as caught:
        load_all([own_folder])
    at = len(SCENARIO.splitlines()) + 1
    assert caught.value.message == f"The plan of greets in {file} cannot be built: line {at}: {mistake}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            SCENARIO.replace("    plan.expect", "    yield plan.expect"),
            "it returns generator and should return nothing",
        ),
        (
            re.sub(r"    plan\.expect.*", "    plan.do(wave())", SCENARIO),
            "greets in .* asks nothing: its plan has no expectation",
        ),
        (
            f"{SCENARIO}\n{SCENARIO}",
            r"has two functions named greets, in the lines \d+ and \d+: only the last would be run",
        ),
        (SCENARIO.replace('"30s"', '"10m"'), r"waits 600 s for “.*”, and its budget is 60 s"),
        (
            SCENARIO.replace('budget="1m"', 'budget="1m", properties={"a.ms": 4}'),
            r"properties are texts, and a.ms is 4",
        ),
    ],
    ids=["a generator", "no question", "two of one name", "longer than its budget", "a number among properties"],
)
def test_a_plan_that_would_show_nothing_or_not_all_is_refused_as_soon_as_the_file_is_read(own_folder, text, said):
    (own_folder / "greets.py").write_text(text)
    with pytest.raises(HarnessError, match=said):
        load_all([own_folder])


def test_a_file_that_ends_the_program_is_a_mistake_and_no_verdict(own_folder):
    (own_folder / "greets.py").write_text(f"import sys\nsys.exit(0)\n{SCENARIO}")
    with pytest.raises(HarnessError, match=r"cannot be imported: line 2: SystemExit: 0\."):
        load_all([own_folder])


def test_a_scenario_says_what_it_asks_of_a_cluster_that_can_start(own_folder):
    file = own_folder / "greets.py"
    file.write_text("from harness.scenario import kraft\nkraft(controllers=0, observers=1)\n")
    with pytest.raises(HarnessError, match="line 2: ValueError: a cluster of 0 controllers"):
        load_file(file)
    with pytest.raises(ValueError, match="nameless has no docstring: it is the question"):
        scenario(kraft(controllers=1, observers=0), suite="s", budget="1m")(nameless)


def nameless(plan, cluster):
    plan.do(None)


def test_a_folder_that_is_given_twice_or_by_a_link_is_read_once(own_folder, tmp_path):
    (tmp_path / "link").symlink_to(own_folder)
    assert "greets" in load_all([own_folder, own_folder, tmp_path / "link"])
    assert [each.name for each in load_file(tmp_path / "link" / "greets.py")] == ["greets"]


def test_what_is_no_file_is_passed_over(own_folder):
    (own_folder / "folder.py").mkdir()
    (own_folder / "dangling.py").symlink_to(own_folder / "nowhere")
    assert "greets" in load_all([own_folder])


def test_a_verb_that_nobody_registered_is_answered_with_the_nearest(own_folder):
    (own_folder / "greets.py").write_text(SCENARIO.replace("scenario, wave", "scenario, waave"))
    with pytest.raises(HarnessError, match=r"line 2: No verb is named 'waave'\. Did you mean wave\?"):
        load_all([own_folder])


def test_two_files_that_define_one_verb_are_named(own_folder):
    (own_folder / "again.py").write_text(ACTION)
    with pytest.raises(HarnessError, match=r"zebra\.py and .*again\.py both define wave"):
        load_all([own_folder])


def test_a_folder_of_scenarios_that_is_not_there_is_named(tmp_path):
    with pytest.raises(HarnessError, match="nowhere is not a folder of scenarios"):
        load_all([tmp_path / "nowhere"])
