"""What the standard suite asks, read from its plans: a question or a window that goes is missed here."""

import re

import pytest

from harness.scenario.plan import IDLE, soak
from harness.scenario.registry import load_all, select
from harness.scenario.steps import Do, Expect, Measure, Phase

SCENARIOS = {each.name: each for each in select(load_all(), (), "standard")}
WITH_WINDOW = [name for name, each in SCENARIOS.items() if "bootstrap" not in each.suites]
WINDOW = Measure(IDLE, 20.0)
# What leader-loss asks of a cluster that nobody leads comes last, since its nodes log and elect for long afterwards;
# nodes cut their logs a minute after they started, which passes meanwhile.
AFTER_THE_WINDOW = {"leader-loss": "a follower hangs", "snapshots": "every log is cut"}

# A line for each expectation: what is done before it, its name, and the condition that it looks at.
ASKED = {
    "busy-cluster": """
        start_all: quorum_is_described by quorum_is_described
        : voter_changes_are_refused by voter_changes_are_refused
        : raft_requests_are_checked by raft_requests_are_checked
        restart: whole after_first_follower_restart
        restart: whole after_second_follower_restart
        restart: whole after_observer_restart
        restart: new_leader_after_restart by has_new_leader
        : whole after_leader_restart
        create_topics: topics_reach_observer by sees_topic
        kill start start: leader_after_majority_died by has_leader
        : whole after_majority_died
        : isr_is_whole_after_majority_died by isr_is_whole
        : quorum_is_described_after_majority_died by quorum_is_described
    """,
    "dedicated-controllers": """
        start_voters start remove_controller: new_leader_after_removal by has_new_leader
        : removed_controller_is_unlisted by votes
        : removed_controller_observes by observes
        : observer_follows_after_removal by follows_leader
        add_controller: added_controller_is_listed by votes
        : whole after_addition
        kill: found after_kill
        start: whole after_kill
        : quorum_is_described_after_kill by quorum_is_described
        : raft_requests_are_checked_after_kill by raft_requests_are_checked
        hold: found after_hang
        release: whole after_hang
    """,
    "leader-loss": """
        start_all kill: found after_kill
        start kill: found after_second_kill
        start: whole after_second_kill
        stop: found after_stop
        start: whole after_stop
        hold_followers append_in_vain kill release_followers: found after_lost_records
        start: whole after_lost_records
        hold_followers: leader_without_majority_gives_up by has_no_leader
        release_followers: leader_after_majority_goes_on by has_leader
        : whole after_majority_goes_on
        : quorum_is_described_after_majority_goes_on by quorum_is_described
        kill stop: new_leader_while_observer_is_away by has_new_leader
        start kill start let_pass start: whole after_lost_observer_restarted
        restart: whole after_observer_knows_all
        hold let_pass: lag_is_described by lag_is_described
        release: whole after_follower_goes_on
        hold_followers let_pass kill start let_pass release_followers: leader_after_nobody_led by has_leader
        : whole after_nobody_led
        : isr_is_whole_after_nobody_led by isr_is_whole
    """,
    "new-mechanism": """
        start_voters start stop: observer_recovers by follows_leader
        create_topic: metadata_reaches_observer by sees_topic
    """,
    "secured": """
        start_all create_user: quorum_is_described by quorum_is_described
        kill: found after_kill
        start: whole after_kill
        remove_controller: removed_voter_is_unlisted by votes
        add_controller: added_voter_is_listed by votes
        restart: whole after_observer_restart
    """,
    "one-voter": """
        start_all restart: voter_leads_after_restart by has_leader
        : whole after_restart
        kill start: voter_leads_after_kill by has_leader
        : whole after_kill
        : quorum_is_described by quorum_is_described
    """,
    "two-voters": """
        start_all stop: leader_without_follower_gives_up by has_no_leader
        start: leader_after_follower_returned by has_leader
        : whole after_follower_returned
        kill start: leader_after_leader_returned by has_leader
        : whole after_leader_returned
        : quorum_is_described by quorum_is_described
    """,
    "snapshots": """
        start_all create_topics stop wipe create_topics start: whole after_broker_lost_disk
        : broker_fetched_snapshot by starts_at_snapshot
        : broker_knows_metadata by sees_topic
        stop wipe create_topics start: whole after_voter_lost_disk
        : voter_fetched_snapshot by starts_at_snapshot
        stop remove_controller: removed_voter_is_unlisted by votes
        wipe start add_controller: added_voter_is_listed by votes
        : added_voter_is_described by quorum_is_described
        : whole after_voter_got_new_disk
        : log_is_cut by starts_at_snapshot
        stop wipe start: whole after_log_was_cut
        kill: restored_voter_leads by has_new_leader
        create_topics: metadata_goes_on by sees_topic
        : log_of_broker_is_cut by is_cut_like
        : log_of_voter_is_cut by is_cut_like
    """,
    "static-voters": """
        start_all: quorum_is_described by quorum_is_described
        kill: found after_kill
        start: whole after_kill
        stop: new_leader_after_stop by has_new_leader
        restart: restarted_broker_follows_new_leader by follows_leader
        start: whole after_stop
    """,
    "turn1": """
        start_all restart register_endpoint restart register_endpoint restart stop: observer_recovers by follows_leader
        create_topic: metadata_reaches_observer by sees_topic
    """,
    "turn2": """
        start_all restart register_endpoint restart register_endpoint restart restart register_endpoint stop: \
observer_recovers by follows_leader
        create_topic: metadata_reaches_observer by sees_topic
    """,
}
WHOLE = ("all_up_{} by nodes_ready", "voters_caught_up_{} by voters_caught_up", "observer_follows_{} by follows_leader")
FOUND = ("new_leader_{} by has_new_leader", "observer_follows_new_leader_{} by follows_leader")
TOGETHER = {"whole": WHOLE, "found": FOUND}
ONLY_NOTES = "count_right_addresses"


def lines_of(asked):
    """Return the lines of a text of ASKED; `whole` and `found` are several expectations."""
    found = []
    for line in asked.strip().splitlines():
        deeds, _, question = line.strip().rpartition(": ")
        about, _, ending = question.partition(" ")
        first, *others = [each.format(ending) for each in TOGETHER.get(about, [question])]
        found += [f"{deeds}: {first}", *(f": {each}" for each in others)]
    return found


def asked_by(scenario):
    """Return the lines of a scenario's plan."""
    found, deeds = [], []
    for step in scenario.plan().everything:
        match step:
            case Do(action) if verb(action) != ONLY_NOTES:
                deeds.append(verb(action))
            case Expect(condition, _, named):
                found.append(f"{' '.join(deeds)}: {named} by {condition.name}")
                deeds = []
    return found


def verb(action):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(action).__name__).lower()


def test_the_standard_suite_is_these_scenarios():
    assert {*SCENARIOS} == {*ASKED}


@pytest.mark.parametrize("name", ASKED)
def test_a_scenario_of_the_standard_suite_asks_each_of_its_questions_after_what_it_does(name):
    assert asked_by(SCENARIOS[name]) == lines_of(ASKED[name])


@pytest.mark.parametrize("name", WITH_WINDOW)
def test_a_scenario_of_the_standard_suite_alone_ends_with_twenty_seconds_in_which_nothing_happens(name):
    steps = SCENARIOS[name].plan().steps
    if name in AFTER_THE_WINDOW:
        steps = steps[: steps.index(Phase(AFTER_THE_WINDOW[name]))]
    assert steps[-2:] == [Phase("nothing happens"), WINDOW]


@pytest.mark.parametrize("name", WITH_WINDOW)
def test_a_soak_makes_that_window_longer_and_no_other(name):
    plan = SCENARIOS[name].plan()
    before = list(plan.steps)
    soak(plan, 600)
    assert plan.steps == [Measure(IDLE, 600) if step == WINDOW else step for step in before]
    assert plan.steps != before


def test_the_scenarios_of_bootstrap_are_measured_in_no_window():
    without = [each for name, each in SCENARIOS.items() if name not in WITH_WINDOW]
    assert {each.name for each in without} == {"turn1", "turn2", "new-mechanism"}
    assert not any(isinstance(step, Measure) for each in without for step in each.plan().everything)
