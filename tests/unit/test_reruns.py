"""A run that did not come to an answer is asked once more, and both are shown and counted."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_judge import CRASH, FIX, GUARD, STARVED, H, R, decide, declare, ran, rests

from harness.logs.log_diff import node_logs
from harness.model.declaration import Declaration
from harness.model.node_logs import NodeLogs
from harness.model.runs import Outcome, RunResult, Verdict
from harness.model.spares import counting, in_place, replaced, spares_due, spares_worth_running
from harness.model.verdict import CellState, Check
from harness.report.context import report_context
from harness.rundir.directory import RunDirectory

LOST = (Outcome.BROKEN, "harness_alive", "the process in which the harness ran this scenario crashed")
KNOWN = (Outcome.INCONCLUSIVE, "known_crash", "node 1 crashed as released jars do now and then (docs/x.md): Unexpected")


def plan(*scenarios: str, repeats: int = 1, has_spares: bool = True) -> Declaration:
    return replace(declare(*scenarios, repeats=repeats, claims=(FIX,)), has_spares=has_spares)


def judged(stock, off, on, repeats: int = 1, **changes):
    """Judge turn2, in which arms show these repeats, spares behind them, beside turn1, in which all is well."""
    well = ran("turn1", *[[H] * repeats] * 3)
    return decide(plan("turn2", "turn1", repeats=repeats, **changes), [*ran("turn2", stock, off, on), *well])


@pytest.mark.parametrize(
    ("arms", "verdict", "cell"),
    [
        (([KNOWN, R], R, H), Verdict.SHIP, "stock"),
        ((R, R, [KNOWN, H]), Verdict.SHIP, "patched-on"),
        ((R, [KNOWN, R], H), Verdict.SHIP, "patched-off"),
        ((R, R, [KNOWN, R]), Verdict.HOLD, "patched-on"),
        ((R, R, [KNOWN, CRASH]), Verdict.HOLD, "patched-on"),
    ],
    ids=["base's", "the candidate's", "off's", "a failure", "another crash"],
)
def test_what_the_spare_shows_stands_in_the_place_of_the_crash_and_both_are_counted_and_shown(arms, verdict, cell):
    record = judged(*arms)
    assert record.verdict is verdict
    turn2 = next(each for each in record.scenarios if each.name == "turn2")
    found = turn2.cell(cell)
    assert (found.agreeing, found.declared) == (1, 2)
    runs = record.runs_of("turn2", cell)
    assert [run.repeat for run in runs] == [1, 2]
    assert runs[0].check is Check.SKIPPED
    (remark,) = record.remarks
    begin = f"turn2 on {cell}, repeat 1, ended with a crash that released jars have too and was run once more: "
    assert remark == f"{begin}{runs[1].label}. Reason for the rerun: {KNOWN[2]}"


@pytest.mark.parametrize("spare", [KNOWN, STARVED, GUARD])
def test_a_spare_that_decides_nothing_leaves_the_run_undecided(spare):
    record = judged(R, R, [KNOWN, spare])
    found = record.scenarios[0].cell("patched-on")
    assert (record.verdict, found.state, found.expectation) == (
        Verdict.HOLD if spare is KNOWN else Verdict.INCONCLUSIVE,  # twice is no bad luck
        CellState.INCONCLUSIVE,
        "known_crash",
    )
    assert (found.agreeing, found.declared) == (2 if spare is KNOWN else 1, 2)
    assert record.remarks == ()


@pytest.mark.parametrize(("spare", "told"), [(H, []), (GUARD, [1, 2]), (KNOWN, [1, 2])])
def test_the_page_names_a_crash_among_what_was_spoiled_unless_a_spare_stands_for_it(spare, told):
    shown = report_context(judged(R, R, [KNOWN, spare]), {})
    assert [int(each.split(" · ")[2].partition(":")[0]) for each in shown.failures] == told
    assert shown.runs_summary == "7 (2 scenarios × 3 arms × 1, and 1 extra)"


@pytest.mark.parametrize(
    ("spare", "verdict", "counted"),
    [
        (H, Verdict.SHIP, (1, 2)),
        (CRASH, Verdict.HOLD, (1, 2)),
        (GUARD, Verdict.HOLD, (2, 2)),
        (STARVED, Verdict.INCONCLUSIVE, (1, 2)),
        (KNOWN, Verdict.INCONCLUSIVE, (1, 2)),
    ],
)
def test_a_guard_that_the_candidate_misses_and_base_meets_holds_it_back_where_it_misses_that_once_more(
    spare, verdict, counted
):
    record = judged(R, R, [GUARD, spare])
    found = record.scenarios[0].cell("patched-on")
    assert (record.verdict, (found.agreeing, found.declared)) == (verdict, counted)
    begin = f"turn2 on patched-on, repeat 1, did not reach its question ({GUARD[1]}) and was run once more: "
    assert [each.startswith(begin) for each in record.remarks] == ([] if spare is GUARD else [True])
    assert "a single unlucky run would look the same" not in record.against
    assert ("ran once per arm (plus 1 extra run):" in record.against) is (spare is H)


@pytest.mark.parametrize(
    ("spare", "verdict", "counted"),
    [
        (H, Verdict.SHIP, (1, 2)),
        (CRASH, Verdict.HOLD, (1, 2)),
        (GUARD, Verdict.INCONCLUSIVE, (1, 2)),
        (STARVED, Verdict.INCONCLUSIVE, (2, 2)),
        (KNOWN, Verdict.INCONCLUSIVE, (1, 2)),
    ],
)
def test_what_the_host_spoiled_is_answered_by_the_spare_or_stays_the_hosts(spare, verdict, counted):
    record = judged(R, R, [STARVED, spare])
    found = record.scenarios[0].cell("patched-on")
    assert (record.verdict, (found.agreeing, found.declared)) == (verdict, counted)
    begin = "turn2 on patched-on, repeat 1, was spoiled by the host and was run once more: "
    assert [each.startswith(begin) for each in record.remarks] == [True] * spare[0].is_decided
    assert (found.expectation == "host_not_starved") == (verdict is Verdict.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("spare", "verdict"),
    [(H, Verdict.SHIP), (CRASH, Verdict.HOLD), (LOST, Verdict.INCONCLUSIVE), (GUARD, Verdict.INCONCLUSIVE)],
)
def test_a_run_whose_harness_crashed_is_asked_once_more_and_says_nothing_of_the_build(spare, verdict):
    record = judged(R, R, [LOST, spare])
    assert record.verdict is verdict
    begin = "turn2 on patched-on, repeat 1, ended with a crash of the harness and was run once more: "
    assert [each.startswith(begin) for each in record.remarks] == [True] * spare[0].is_decided


@pytest.mark.parametrize("how", [STARVED, LOST], ids=["starved", "processes killed"])
@pytest.mark.parametrize(("spoiled", "of", "asked"), [(1, 2, 1), (2, 8, 2), (3, 8, 0), (5, 22, 5), (6, 22, 0)])
def test_a_host_that_spoils_more_than_one_round_in_four_is_asked_for_no_more(spoiled, of, asked, how):
    shows = [*[how] * spoiled, *[R] * (of - spoiled)]
    results = ran("turn2", shows, [GUARD], [KNOWN])
    due = spares_worth_running(plan("turn2", repeats=of), results[:of])
    assert len(due) == asked
    others = spares_worth_running(plan("turn2", repeats=of), [*results[: of - 2], *results[of:]])
    assert {key.arm for key in others} >= {"patched-off", "patched-on"}


@pytest.mark.parametrize(("spoiled", "asked"), [(1, 3), (2, 0)])
def test_what_spoils_both_arms_of_a_round_at_once_is_one_moment_of_the_host(spoiled, asked):
    shows = [*[STARVED] * spoiled, *[R] * (2 - spoiled)]
    due = spares_worth_running(plan("turn2", repeats=2), ran("turn2", shows, shows, shows))
    assert len(due) == asked


@pytest.mark.parametrize("first", [GUARD, KNOWN, STARVED])
def test_what_base_could_not_be_asked_is_asked_once_more_too(first):
    assert judged([first, R], R, H).verdict is Verdict.SHIP


@pytest.mark.parametrize("shown", [H, R, CRASH])
def test_nothing_else_is_asked_again_and_a_spare_that_nothing_asked_for_counts_for_nothing(shown):
    alone, stray = judged(R, R, shown), judged(R, R, [shown, H])
    assert (stray.verdict, stray.scenarios) == (alone.verdict, alone.scenarios)
    assert len(stray.runs) == len(alone.runs)


def test_in_a_folder_of_before_no_spare_was_declared():
    assert judged(R, R, [KNOWN, H], has_spares=False).verdict is Verdict.INCONCLUSIVE


def crashed(*, of_on=(), of_off=(), of_base=(), sets=None):
    """Judge five scenarios beside turn2, in which each arm ends by the known crash where it is said, and not again.

    `sets` are how many voter sets the logs of each of the candidate's runs have at their ends.
    """
    names = ("turn1", "a", "b", "c", "d")
    results = [
        run
        for name in names
        for run in ran(name, *([KNOWN, H] if name in ended else H for ended in (of_base, of_off, of_on)))
    ]
    measured = [replace(run, measures={"voter_sets_written": sets} if sets else {}) for run in results]
    return decide(plan(*names, "turn2"), [*measured, *ran("turn2", R, R, H)])


@pytest.mark.parametrize(
    ("crashes", "verdict"),
    [
        pytest.param({"of_on": ["turn1", "a"]}, Verdict.HOLD, id="twice"),
        pytest.param({"of_on": ["a"], "of_off": ["a"]}, Verdict.HOLD, id="twice, on two arms"),
        pytest.param({"of_on": ["a"]}, Verdict.SHIP, id="once"),
        pytest.param({"of_on": ["turn1", "a"], "of_base": ["d"]}, Verdict.SHIP, id="base too"),
        pytest.param(
            {"of_on": [*"abcd"], "of_off": [*"abcd"], "of_base": ["d"]}, Verdict.INCONCLUSIVE, id="base too, far less"
        ),
        pytest.param(
            {"of_on": ["turn1", *"abcd"], "sets": 9}, Verdict.INCONCLUSIVE, id="five times, in a hundred changes"
        ),
        pytest.param({"of_on": ["turn1", "a"], "sets": 9}, Verdict.SHIP, id="twice, in a hundred changes"),
        pytest.param({"of_on": ["turn1", "a"], "sets": 2}, Verdict.SHIP, id="twice, in ten changes of voters"),
        pytest.param({"of_on": ["turn1", "a", "b", "c"], "sets": 2}, Verdict.HOLD, id="four times in fourteen changes"),
    ],
)
def test_a_candidate_that_ends_so_more_often_than_released_jars_do_is_held_back(crashes, verdict):
    assert crashed(**crashes).verdict is verdict


def test_whoever_ends_so_again_and_again_is_held_back_by_name():
    (reason,) = (each for each in rests(crashed(of_on=["turn1", "a"])) if each.startswith("known_crash"))
    assert reason == (
        "known_crash: 2 of 14 runs of the candidate ended with a crash that released jars have now and then (turn1 on "
        "patched-on, repeat 1 and a on patched-on, repeat 1), but none of 6 runs of base: node 1 crashed as released "
        "jars do now and then (docs/x.md): Unexpected"
    )


@pytest.mark.parametrize(
    ("of_on", "of_base", "verdict"),
    [
        ("abc", "", Verdict.INCONCLUSIVE),
        ("ab", "", Verdict.SHIP),
        ("abcd", "f", Verdict.SHIP),
        ("abcde", "f", Verdict.INCONCLUSIVE),
    ],
)
def test_guards_that_the_candidate_misses_far_oftener_than_base_are_a_question(of_on, of_base, verdict):
    """Each has been asked once more and has answered."""
    results = [
        run
        for name in "abcdef"
        for run in ran(name, *([GUARD, H] if name in missed else H for missed in (of_base, "", of_on)))
    ]
    record = decide(plan(*"abcdef", "turn2"), [*results, *ran("turn2", R, R, H)])
    assert record.verdict is verdict
    told = [each for each in record.not_tested if each.startswith("patched-on did not reach its question")]
    begin = f"patched-on did not reach its question (has_new_leader) in {len(of_on)} runs that were made again (a "
    assert [each.startswith(begin) for each in told] == [True] * (verdict is Verdict.INCONCLUSIVE)
    assert all(each.endswith(", while stock passed all of its own runs there.") for each in told)


def test_a_crash_of_base_does_not_make_the_measure_of_what_clients_got():
    sent = {"acked_records": 2.0, "failed_records": 0.0}
    poor = {"acked_records": 2.0, "failed_records": 790.0}
    results = [
        replace(run, measures=poor if (run.arm, run.repeat) in {("stock", 1), ("patched-on", 1)} else sent)
        for run in ran("turn1", [KNOWN, H], H, H)
    ]
    record = decide(plan("turn1", "turn2"), [*results, *ran("turn2", R, R, H)])
    assert "patched-on fails records_acknowledged" in record.sentence


@pytest.mark.parametrize(
    ("on", "verdict"),
    [(H, Verdict.HOLD), ([KNOWN, H], Verdict.SHIP), ([STARVED, H], Verdict.SHIP)],
    ids=["beside base", "after a crash", "after the host spoiled it"],
)
def test_what_a_spare_waited_for_is_not_held_against_a_base_of_minutes_before(on, verdict):
    seconds = {"stock": 1.0, "patched-off": 1.0, "patched-on": 90.0}
    results = [replace(run, measures={"longest_stall_seconds": seconds[run.arm]}) for run in ran("turn1", H, H, on)]
    record = decide(plan("turn1", "turn2"), [*results, *ran("turn2", R, R, H)])
    assert record.verdict is verdict
    said = [each for each in record.not_tested if "made again, minutes after the other" in each]
    assert len(said) == (verdict is Verdict.SHIP)


shows = st.sampled_from([H, R, GUARD, KNOWN, STARVED, None])


@given(first=st.lists(shows, min_size=1, max_size=4), spares=st.lists(shows, min_size=4, max_size=4))
def test_whatever_was_run_each_declared_repeat_has_one_result_at_most_and_none_that_failed_a_second(first, spares):
    declaration = plan("turn2", repeats=len(first))
    shown = [*first, *spares[: len(first)]]
    results = [
        RunResult("turn2", "patched-on", declaration.arms[2].role, repeat, *what)
        for repeat, what in enumerate(shown, 1)
        if what
    ]
    kept = counting(declaration, results)
    asked = in_place(declaration, kept)
    assert sorted({each.repeat for each in asked}) == sorted(each.repeat for each in asked)
    assert {each.repeat for each in asked} == {k for k, what in enumerate(first, 1) if what}
    for each in asked:
        own = first[each.repeat - 1]
        assert own in (KNOWN, GUARD, STARVED) or (each.outcome, each.expectation) == own[:2]
    due = sum(first.count(each) for each in (KNOWN, GUARD, STARVED))
    assert len(replaced(declaration, kept)) <= len(spares_due(declaration, kept)) == due


def test_logs_are_compared_of_what_makes_a_cell_alone(tmp_path):
    """Not of a run that a spare stands for, a spare that says no more, or one that nothing asks for any more."""
    directory = RunDirectory(tmp_path)
    directory.declaration.write(plan("turn2"))
    for result in ran("turn2", [KNOWN, R], [R, R], [KNOWN, STARVED]):
        run = directory.run(result.key)
        run.result.write(result)
        log = f"{result.key.folder}/nodes/1/server.log"
        run.logs.write((NodeLogs("turn2", result.arm, result.repeat, 1, "voter", (log,), "%m%n", ()),))
    compared = {(node.arm, node.repeat) for node in node_logs(directory)}
    assert compared == {("stock", 2), ("patched-off", 1), ("patched-on", 1)}
