"""The words in the gaps of statements: which there are, and which of them only one arm writes."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.stock import Judged
from harness.logs.compare.template_families import family, unordered
from harness.logs.compare.values import _rate, words
from harness.logs.read.masks import template_of
from harness.logs.read.statements import Statement, written
from harness.model.findings import FindingKind, Significance, StockRate

ARMS, REPEATS = ("stock", "off", "on"), (1, 2, 3)
SECONDS = {Where(arm, "turn2", "voter", "start", repeat): 10.0 for arm in ARMS for repeat in REPEATS}
MOVED = Statement("a/B.java", 3, "INFO", ("Completed transition to ", " from ", ""), "B")


def logged(message, arm="stock", repeat=1, *, statement=MOVED, level="INFO", phase="start", at=0.0, line=1):
    masked = template_of(message)
    values = tuple(template_of(each) for each in written(statement, message)) if statement else ()
    return Count(
        Where(arm, "turn2", "voter", phase, repeat), level, "a.B", masked, 1, f"{arm}/{repeat}.log", line, message,
        statement.place if values else "", family(masked), statement.text if values else "", values, last_at=at,
    )  # fmt: skip


def item(key, value, arm="stock", repeat=1):
    text = f"{key} = {value}"
    where = Where(arm, "turn2", "voter", "start", repeat)
    return Count(where, "INFO", "a.Config", template_of(f"Config: {text}"), 1, f"{arm}/{repeat}.log", 5, text)


def slots(count):
    return [(slot.text, word) for slot, word in words(count)]


def everywhere(message, **names):
    return [logged(message, arm, repeat, **names) for arm in ARMS for repeat in REPEATS]


def findings(counts, base="stock", candidate="on", seconds=SECONDS):
    return contrast(base, candidate, list(counts), seconds).findings


def test_what_a_statement_writes_is_found_in_its_gaps():
    assert slots(logged("[Raft id=1] Completed transition to Leader(epoch=3) from Candidate(epoch=3)")) == [
        ("Completed transition to {} from …", "Leader(…)"),
        ("Completed transition to … from {}", "Candidate(…)"),
    ]


@pytest.mark.parametrize("value", ["7", "/10.0.0.1:9092", "127.0.0.1:9092", "Zk9TwPbURzWQ3kSmBo3rKQ", "[1, 2]", "12.5"])
def test_numbers_addresses_and_ids_are_no_words(value):
    assert "Completed transition to {} from …" not in dict(slots(logged(f"Completed transition to {value} from x y")))


def test_words_in_brackets_are_named_by_their_keys():
    count = logged(
        "Vote request VoteRequest(epoch=3, granted=false, state=LEADER, port: 9, fenced: true)", statement=None
    )
    assert slots(count) == [
        ("Vote request VoteRequest(…): granted={}", "false"),
        ("Vote request VoteRequest(…): state={}", "LEADER"),
        ("Vote request VoteRequest(…): fenced={}", "true"),
    ]


def test_an_exception_below_a_message_is_a_word():
    text = "It failed\njava.io.IOException: no 7\nCaused by: java.net.ConnectException: x"
    assert slots(logged(text, statement=None)) == [
        ("It failed: {}", "java.io.IOException"),
        ("It failed: {}", "java.net.ConnectException"),
    ]


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("num.io.threads", "8", "8"),
        ("enable", "false", "false"),
        ("node.id", "8", "<n>"),
        ("port", "9092", "<n>"),
        ("log.dir", "/tmp/kafka/1", "<path>"),
        ("listeners", "PLAINTEXT://localhost:9092", "PLAINTEXT://<addr>"),
        ("empty", "", ""),
    ],
)
def test_a_key_of_a_dump_keeps_its_number_unless_every_run_has_its_own(key, value, word):
    assert slots(item(key, value)) == [(f"Config: {key} = {{}}", word)]


@given(st.lists(st.text(alphabet="ab {}=()[]", max_size=12), max_size=4))
def test_a_message_put_together_from_values_is_taken_apart_again_or_another_way_that_gives_it(values):
    statement = Statement("a/B.java", 1, "INFO", ("from ", *[" to "] * len(values))[: len(values) + 1] or ("",))
    message = "".join(a + b for a, b in zip(statement.parts, (*values, ""), strict=False))
    found = statement.values(message)
    assert found is not None
    assert message == "".join(a + b for a, b in zip(statement.parts, (*found, ""), strict=True))


def test_a_key_that_changes_is_one_finding_with_both_sides():
    counts = [item("enable", "true" if arm == "on" else "false", arm, repeat) for arm in ARMS for repeat in REPEATS]
    (found,) = findings(counts)
    assert (found.kind, found.significance) == (FindingKind.VALUE, Significance.BEYOND)
    assert (found.template, found.detail) == ("Config: enable = {}", "base: false; candidate: true")
    assert (found.base_excerpt, found.candidate_excerpt) == ("enable = false", "enable = true")
    assert (found.base_runs, found.candidate_runs) == ((1, 1, 1), (1, 1, 1))


def test_a_number_of_a_dump_that_changes_is_reported_though_its_template_is_the_same():
    counts = [item("threads", "4" if arm == "on" else "8", arm, repeat) for arm in ARMS for repeat in REPEATS]
    assert [each.detail for each in findings(counts)] == ["base: 8; candidate: 4"]


@pytest.mark.parametrize(("here", "kind"), [("on", FindingKind.NEW), ("stock", FindingKind.VANISHED)])
def test_a_key_that_only_one_arm_has_is_new_or_has_vanished(here, kind):
    counts = [*everywhere("steady", statement=None), *(item("enable", "true", here, repeat) for repeat in REPEATS)]
    assert [(each.kind, each.template) for each in findings(counts)] == [(kind, "Config: enable = true")]


def test_a_new_state_of_a_statement_that_both_write_is_a_value_and_no_new_line():
    counts = everywhere("Completed transition to Follower from Unattached")
    counts += [logged("Completed transition to Resigned from Unattached", "on", repeat, line=2) for repeat in REPEATS]
    (found,) = findings(counts)
    assert (found.kind, found.template) == (FindingKind.VALUE, "Completed transition to {} from …")
    assert found.detail == "base: Follower; candidate: Resigned, Follower"
    assert (found.base_runs, found.candidate_runs) == ((0, 0, 0), (1, 1, 1))


def test_a_new_pair_of_known_states_stays_a_new_line():
    counts = [*everywhere("Completed transition to A from B"), *everywhere("Completed transition to C from D", line=2)]
    counts += [logged("Completed transition to A from D", "on", repeat, line=3) for repeat in REPEATS]
    assert [each.kind for each in findings(counts)] == [FindingKind.NEW]


def test_a_word_in_brackets_is_reported_beyond_the_noise_and_never_at_one_run():
    def granted(arm, repeat):
        return logged(f"Vote(granted={'true' if arm == 'on' else 'false'})", arm, repeat, statement=None)

    counts = [granted(arm, repeat) for arm in ARMS for repeat in REPEATS]
    (found,) = findings(counts)
    assert (found.template, found.detail) == ("Vote(…): granted={}", "base: false; candidate: true")
    once = {where: length for where, length in SECONDS.items() if where.repeat == 1}
    assert findings([count for count in counts if count.where.repeat == 1], seconds=once) == ()


def test_a_value_has_the_level_at_which_its_own_lines_are_logged():
    """Two statements of one text, one at ERROR, which both arms log, and one at INFO, of whose words one is new."""
    failed = Statement("a/B.java", 7, "ERROR", ("Error while appending to ", ""), "B")
    informed = replace(failed, line=8, level="INFO")
    both = everywhere("Error while appending to NotEnoughReplicas", statement=failed, level="ERROR")
    new = [logged("Error while appending to InvalidEpoch", "on", repeat, statement=informed) for repeat in REPEATS]
    found = [each for each in findings([*both, *new]) if each.kind is FindingKind.VALUE]
    assert [each.level for each in found] == ["INFO"]


def test_a_word_that_comes_and_goes_within_base_is_noise():
    new = [logged("Vote(granted=true)", "on", repeat, statement=None) for repeat in REPEATS]
    counts = [*everywhere("Vote(granted=false)", statement=None), *new]
    once = logged("Vote(granted=true)", "stock", statement=None)
    by_an_observer = replace(once, where=replace(once.where, node_role="observer"))
    observers = {replace(where, node_role="observer"): length for where, length in SECONDS.items()}
    found = findings([*counts, by_an_observer], seconds=SECONDS | observers)
    assert [each for each in found if each.node_kind == "voter"] == []
    (found,) = findings([*counts, logged("Vote(granted=true)", "off", statement=None)])
    assert found.significance is Significance.BEYOND  # the candidate's own jar is no witness


def test_the_state_that_nodes_were_left_in_is_reported_though_both_arms_write_it():
    def course(arm, repeat):
        first, second = ("Unattached", "Follower") if arm == "on" else ("Follower", "Unattached")
        return [
            logged(f"Completed transition to {state} from x y", arm, repeat, at=at, line=int(at))
            for at, state in ((1.0, first), (2.0, second))
        ]

    every = findings([count for arm in ARMS for repeat in REPEATS for count in course(arm, repeat)])
    (found,) = [each for each in every if each.kind is FindingKind.VALUE]
    assert found.template == "Completed transition to {} from … (a node's last)"
    assert found.detail == "base: Unattached; candidate: Follower"
    assert (found.base_lasting, found.candidate_lasting) == (True, True)


@pytest.mark.parametrize("seed", range(8))
def test_words_that_fall_as_they_please_are_no_finding_beyond_the_noise(seed):
    chance = random.Random(seed)
    counts = []
    for arm in ARMS:
        for repeat in REPEATS:
            for name in "abcdefghijklmnopqrst":
                statement = Statement("a", 1, "", (f"Statement {name} says that ", ""))
                text = f"Statement {name} says that state={chance.choice(['Leader', 'Follower', 'Candidate'])}"
                counts.append(logged(text, arm, repeat, statement=statement))
    shown = [each for each in findings(counts) if each.kind is FindingKind.VALUE]
    assert [each for each in shown if each.significance is Significance.BEYOND] == []


def test_many_words_are_cut_where_the_reader_sees_it():
    counts = everywhere("Completed transition to z from y")
    for n in "abcdefgh":
        counts += [logged(f"Completed transition to {n} from y", "on", repeat, line=ord(n)) for repeat in REPEATS]
    (found,) = findings(counts)
    assert found.detail == "base: z; candidate: a, b, c, d, e, f and 3 more"


def test_whose_addresses_stand_in_a_gap_or_in_brackets_are_words_and_lists_of_them_sets():
    assert slots(logged("Completed transition to <voter's controller> from X(at=/<voter's left controller>, n=3)")) == [
        ("Completed transition to {} from …", "<voter's controller>"),
        ("Completed transition to … from {}", "X(…)"),
        ("Completed transition to … from …: address {}", "<voter's left controller>"),
    ]
    listed = "[<voter's controller> (id: 0 rack: null), <nobody's address> (id: 1 rack: null)]"
    assert (
        slots(logged(f"Completed transition to {listed} from x y"))[0][1]
        == "[<nobody's address>, <voter's controller>]"
    )
    for one, two in (("left ", ""), ("", "left ")):
        voters = f"[<n>@<voter's {one}controller>, <n>@<voter's {two}controller>, <n>@<voter's controller>]"
        assert unordered(voters) == "[<voter's controller>, <voter's left controller>]"


LASTS = [("a-3", "b-3"), ("<voter's controller>", "<voter's left controller>"), ("<an observer>", "<a voter>")]


@pytest.mark.parametrize(("here", "there"), LASTS)
def test_the_numbered_thing_address_or_broker_that_came_last_is_no_state_that_a_node_was_left_in(here, there):
    counts = [
        count for each in (here, there) for count in everywhere(f"Completed transition to {each} from x y", at=1.0)
    ]
    counts += [
        logged(f"Completed transition to {here if arm == 'on' else there} from x y", arm, repeat, at=2.0)
        for arm in ARMS
        for repeat in REPEATS
    ]
    assert not [found for found in findings(counts) if found.template.endswith("(a node's last)")]


def test_what_base_is_known_to_log_is_said_of_the_candidates_own_word_and_of_a_flood_first():
    vanished, usual, flood = (
        Judged(Significance.BEYOND, StockRate(41, 41, 25)),
        Judged(Significance.BEYOND, StockRate(41, 1, 3)),
        Judged(Significance.BEYOND, StockRate(41, 0, 0, unmatched=True, flood=True)),
    )
    assert _rate([usual, flood], [vanished, usual, flood]) is flood.rate
    assert _rate([None, usual], [vanished, usual]) is usual.rate
    assert _rate([], [None, vanished]) is vanished.rate
    assert _rate([None], [None]) is None
