"""Lines that changed places: told only where all nodes agree, and races between threads never."""

import random

import pytest

from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.order import Order
from harness.model.findings import FindingKind, Significance

ARMS, REPEATS, NODES = ("stock", "off", "on"), (1, 2, 3), (0, 1, 2)
SECONDS = {Where(arm, "turn2", "voter", "start", repeat): 10.0 for arm in ARMS for repeat in REPEATS}


def node(arm, repeat, number, words, logger="a.B", scenario="turn2", part=""):
    where = Where(arm, scenario, "voter", "start", repeat)
    file = f"{scenario}/{arm}/{repeat}/{number}{part}.log"
    return [
        Count(where, "INFO", logger, word, 1, file, line, word, family=word, node=number)
        for line, word in enumerate(words, 1)
    ]


def logs(words_of):
    """Return the counts of all nodes; `words_of` says what each logs, in order."""
    every = [(arm, repeat, number) for arm in ARMS for repeat in REPEATS for number in NODES]
    return [count for each in every for count in node(*each, words_of(*each))]


def test_a_line_that_all_nodes_of_the_candidate_log_later_is_reported_with_its_neighbour():
    counts = logs(lambda arm, repeat, number: ["one", "three", "two"] if arm == "on" else ["one", "two", "three"])
    (found,) = contrast("off", "on", counts, SECONDS).findings
    assert (found.kind, found.significance) == (FindingKind.ORDER, Significance.BEYOND)
    assert (found.template, found.detail) == ("two", "first logged before this line, now after it: three")


def test_a_line_that_moves_past_many_is_reported_once():
    late, early = ["a", "b", "c", "d", "moved"], ["moved", "a", "b", "c", "d"]
    counts = logs(lambda arm, repeat, number: early if arm == "on" else late)
    (swap,) = Order(counts).swaps("stock", "on")
    assert (swap.family, swap.was_first) == ("moved", False)


@pytest.mark.parametrize("seed", range(10))
def test_threads_that_race_change_no_order(seed):
    chance = random.Random(seed)
    words = [f"word {n}" for n in range(12)]
    assert Order(logs(lambda *_: chance.sample(words, 12))).swaps("stock", "on") == []


def test_one_node_that_disagrees_is_enough_for_silence():
    def words_of(arm, repeat, number):
        return ["two", "one"] if arm == "on" or (arm, repeat, number) == ("off", 2, 1) else ["one", "two"]

    assert Order(logs(words_of)).swaps("stock", "on") == []


def test_a_pair_that_races_elsewhere_is_known_to_race():
    counts = logs(lambda arm, *_: ["two", "one"] if arm == "on" else ["one", "two"])
    elsewhere = [
        *node("stock", 1, 0, ["one", "two"], scenario="turn1"), *node("stock", 2, 0, ["two", "one"], scenario="turn1"),
    ]  # fmt: skip
    assert len(Order(counts).swaps("stock", "on")) == 1
    assert Order([*counts, *elsewhere]).swaps("stock", "on") == []


def test_what_races_once_for_all_nodes_of_a_run_is_a_race_of_runs():
    """The order of two topics is drawn once for a run; of many such pairs one may fall just as the arms do."""
    pairs = {f"{pair} ": random.Random(pair) for pair in range(40)}
    drawn = {
        (name, arm, repeat): chance.sample(["one", "two"], 2)
        for name, chance in pairs.items()
        for arm in ARMS
        for repeat in REPEATS
    }

    def words_of(arm, repeat, number, raced):
        own = ["two", "one"] if arm == "on" else ["one", "two"]
        return [*own, *(name + word for name in raced for word in drawn[name, arm, repeat])]

    few, many = (logs(lambda *at, raced=raced: words_of(*at, raced)) for raced in (list(pairs)[:2], pairs))
    assert [swap.family for swap in Order(few).swaps("stock", "on")] == ["two"]
    assert Order(many).swaps("stock", "on") == []


@pytest.mark.parametrize(("silent", "text"), [((), 1), ((0,), 1), ((0, 1), 0), ((0, 1, 2), 0)])
def test_a_pair_is_reported_if_two_nodes_of_each_run_log_it(silent, text):
    def words_of(arm, repeat, number):
        own = ["two", "one"] if arm == "on" else ["one", "two"]
        return own[:1] if (arm, repeat) == ("on", 2) and number in silent else own

    assert len(Order(logs(words_of)).swaps("stock", "on")) == text


@pytest.mark.parametrize(("nodes", "text"), [((0,), 0), ((0, 1), 1)])
def test_the_rotated_files_of_a_node_are_one_node_and_follow_each_other(nodes, text):
    def rotated(arm, repeat, number):
        one, two = ("other", "this") if arm == "on" else ("this", "other")
        files = (["filler", one], [two], [one, two], [one, two])
        return [count for part, words in enumerate(files) for count in node(arm, repeat, number, words, part=part)]

    counts = [count for arm in ARMS for repeat in REPEATS for number in nodes for count in rotated(arm, repeat, number)]
    assert len(Order(counts).swaps("stock", "on")) == text


def test_lines_of_different_loggers_are_not_compared():
    counts = logs(lambda *_: ["one"]) + [
        count
        for arm in ARMS
        for repeat in REPEATS
        for number in NODES
        for count in node(arm, repeat, number, ["two"] if arm == "on" else ["-", "two"], logger="c.D")
    ]
    assert Order(counts).swaps("stock", "on") == []


def test_at_one_repeat_no_order_is_reported():
    once = {where: seconds for where, seconds in SECONDS.items() if where.repeat == 1}
    counts = [c for c in logs(lambda arm, *_: ["two", "one"] if arm == "on" else ["one", "two"]) if c.where.repeat == 1]
    assert contrast("stock", "on", counts, once).findings == ()
