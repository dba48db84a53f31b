"""Comparing two runs or nights, opening a report, and the commands as a user meets them."""

import json
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly_sample import FAILED, document, night, write_night_folder, write_run

from harness.cli import app as cli
from harness.cli import compare as commands
from harness.model.findings import Significance
from harness.nightly.comparing import ABSENT, ComparedSide, RunDifference, compare, render_markdown, sentence, side_of
from harness.nightly.night import VerificationStatus

SHIP, HELD_BACK = document("ship"), document("hold", FAILED)
TEXTS = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["PASSED", "FAILED(x)"]))
SIDES = st.builds(ComparedSide, *[TEXTS] * 6, st.dictionaries(st.sampled_from("abc"), st.floats(0, 99)))


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        code = cli._run()
        return (code, *capsys.readouterr())

    return run


def test_a_run_compared_with_itself_is_the_same():
    assert compare(side_of({"": SHIP}, {}), side_of({"": SHIP}, {})) == ()


@given(SIDES, SIDES)
def test_the_other_way_round_the_same_things_changed(one, other):
    there, back = compare(one, other), compare(other, one)
    assert back == tuple(replace(change, before=change.after, after=change.before) for change in there)


def test_verdict_outcomes_proof_and_findings_that_changed_are_reported_by_their_place():
    changes = compare(side_of({"": SHIP}, {}), side_of({"": HELD_BACK}, {}))
    text = {(each.what, each.where): (each.before, each.after) for each in changes}
    assert text["verdict", ""] == ("SHIP", "HOLD")
    assert text["outcome", "turn2 on patched-on"] == ("PASSED", "FAILED(observer_recovers)")
    assert any(what == "proof" and before == ABSENT for (what, _), (before, _) in text.items())


def test_other_jars_and_other_times_are_reported_and_do_not_count():
    arms = tuple(replace(arm, build=replace(arm.build, jar_sha256="f" * 64)) for arm in SHIP.arms)
    slower = replace(SHIP, arms=arms, timings={**SHIP.timings, "run": 400.0, "build": 6.9})
    changes = compare(side_of({"": SHIP}, {}), side_of({"": slower}, {}))
    assert {change.what for change in changes} == {"build", "time"}
    assert [change.where for change in changes if change.what == "time"] == ["run"]
    assert not any(change.counts for change in changes)
    assert sentence(changes).startswith("The same")


def showing(significance):
    """Return the verdict with all of its findings of one significance."""
    contrasts = (
        replace(each, findings=tuple(replace(finding, significance=significance) for finding in each.findings))
        for each in SHIP.contrasts
    )
    return side_of({"": replace(SHIP, contrasts=tuple(contrasts))}, {})


BEYOND, WITHIN, UNKNOWN = map(showing, (Significance.BEYOND, Significance.WITHIN, Significance.UNKNOWN))
NO_FINDINGS = side_of({"": replace(SHIP, contrasts=())}, {})


def test_a_finding_beyond_the_noise_that_is_gone_is_reported_as_absent():
    changes = compare(BEYOND, NO_FINDINGS)
    assert {(change.what, change.after, change.counts) for change in changes} == {("finding", ABSENT, True)}


@pytest.mark.parametrize("undecided", [WITHIN, UNKNOWN])
def test_what_may_be_noise_does_not_make_two_verifications_different(undecided):
    (change,) = compare(undecided, NO_FINDINGS)
    assert (change.what, change.before, change.after) == ("noise", "4 on this side only", "0 on this side only")
    assert sentence([change]).startswith("The same")
    assert compare(undecided, undecided) == ()


@pytest.mark.parametrize("undecided", [WITHIN, UNKNOWN])
def test_a_finding_that_one_side_took_for_noise_is_shown_and_does_not_count(undecided):
    changes = compare(BEYOND, undecided)
    assert {each.after for each in changes if each.what == "finding"} == {"not beyond the noise"}
    assert not any(each.counts for each in changes)


def test_markdown_escapes_what_others_wrote():
    text = render_markdown([RunDifference("finding", "a | <script> `x`", "—", "new")], "one", "two")
    assert "<script>" not in text
    assert "a \\| " in text


def test_compare_ends_with_0_for_the_same_and_1_for_different(harness, tmp_path):
    one, other = write_run(tmp_path / "one", SHIP), write_run(tmp_path / "other", HELD_BACK)
    code, out, _ = harness("compare", one, one)
    assert (code, out) == (0, "The same: verdicts, outcomes, proof and findings.\n")
    code, out, _ = harness("compare", one, other)
    assert code == 1
    assert "Different: 1 × verdict, 1 × outcome" in out
    code, out, _ = harness("compare", other, one, "-o", "markdown")
    assert code == 1
    assert out.startswith("| | where |")


def test_nights_are_compared_verification_by_verification(harness, tmp_path):
    one = write_night_folder(tmp_path / "one", night("a", "b"), {"a": SHIP, "b": SHIP})
    ended = {"a": VerificationStatus.HOLD, "c": VerificationStatus.ERROR}
    other = write_night_folder(tmp_path / "other", night("a", "c", ended=ended), {"a": HELD_BACK})
    code, out, _ = harness("compare", one, other)
    assert code == 1
    text = " ".join(out.split())
    assert "verdict a: SHIP → HOLD" in text
    assert "verdict b: SHIP → —" in text
    assert "verdict c: — → ERROR" in text
    assert "outcome a: turn2 on patched-on: PASSED → FAILED(observer_recovers)" in text


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (lambda run: (run / "verdict.json").unlink(), "has no verdict.json"),
        (lambda run: (run / "verdict.json").write_text('{"schema": 99}'), "has schema 99; this harness reads schema 2"),
        (
            lambda run: (run / "verdict.json").write_text('{"schema": 2}'),
            "verdict.json is damaged. At $: expected the fields",
        ),
        (lambda run: (run / "verdict.json").write_text("{"), "verdict.json is damaged. Not valid JSON"),
        (lambda run: (run / "night.json").write_text('{"schema": 7}'), "has schema 7"),
    ],
)
def test_what_cannot_be_compared_is_an_error_in_a_sentence(harness, tmp_path, spoil, text):
    run = write_run(tmp_path / "run", SHIP)
    other = write_run(tmp_path / "other", SHIP)
    spoil(run)
    if (run / "night.json").is_file():
        (other / "night.json").write_text('{"schema": 7}')
    code, _, err = harness("compare", other, run)
    assert code == 2
    assert text in " ".join(err.split())
    assert "Traceback" not in err


def test_a_night_and_a_run_are_not_compared(harness, tmp_path):
    one = write_night_folder(tmp_path / "one", night("a"), {"a": SHIP})
    code, _, err = harness("compare", one, one / "a")
    assert code == 2
    assert "is a night and" in err


def test_open_shows_the_report_in_the_browser(harness, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(commands.webbrowser, "open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    write_run(tmp_path / "run", SHIP)
    assert harness("open", "run")[0] == 0
    assert opened == [(tmp_path / "run" / "report.html").as_uri()]


def test_open_shows_the_path_where_there_is_no_display(harness, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(commands.webbrowser, "open", opened.append)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    write_night_folder(tmp_path / "night", night("a"), {"a": SHIP})
    (tmp_path / "night" / "index.html").write_text("<p>night")
    code, out, _ = harness("open", "night")
    assert (code, out, opened) == (0, "night/index.html\n", [])


def test_open_says_how_to_write_a_report_that_is_not_there(harness, tmp_path):
    run = write_run(tmp_path / "run", SHIP)
    (run / "report.html").unlink()
    code, _, err = harness("open", run)
    assert code == 2
    assert f"harness report {run}" in err
    assert "Name a run, a night, or the --out" in harness("open", tmp_path)[2]


def test_the_list_shows_what_each_shard_would_run_and_starts_nothing(harness, tmp_path):
    code, out, _ = harness("nightly", "--list")
    assert code == 0
    command = r"harness verify --kafka 3\.9\.1 --tests all --waivers \S+ --suite bootstrap --repeats 3"
    assert re.search(command, " ".join(out.split()))
    assert not (tmp_path / "out").exists()
    shown = [set(listed(harness("nightly", "--list", "--shard", f"{part}/2")[1])) for part in (1, 2)]
    assert all(shown)
    assert not shown[0] & shown[1]
    assert shown[0] | shown[1] == set(listed(out))


def listed(text):
    """Return the verifications that a list names."""
    return re.findall(r"^\d+/\d+  (\S+), about", text, re.MULTILINE)


def test_the_list_says_what_each_verification_and_all_of_them_cost(harness, tmp_path):
    (tmp_path / "matrix.toml").write_text(
        'schema=1\n[builds.a]\n[builds.b]\n[[ask]]\nbuilds=["a","b"]\n'
        '[seconds]\n"a_both_bundled_fast_bootstrap"=100\n"b_both_bundled_fast_bootstrap"=25\n'
    )
    out = harness("nightly", "--list", "--matrix", "matrix.toml")[1].splitlines()
    assert out[0].endswith("a_both_bundled_fast_bootstrap, about 1 min 40 s")
    assert out[-1] == "2 of 2 verifications, about 2 min 05 s on two quiet cores"


def test_the_list_says_what_cannot_be_run_here(harness, tmp_path):
    (tmp_path / "matrix.toml").write_text(
        'schema=1\n[builds.a]\njar="nowhere.jar"\n[builds.b]\n[builds.c]\nkafka="3.9.77"\n[[ask]]\nbuilds=["a","b","c"]\n'
    )
    out = " ".join(harness("nightly", "--list", "--matrix", "matrix.toml")[1].split())
    assert out.count("cannot be run here") == 2
    assert "nowhere.jar does not exist." in out
    assert "There is no lock for Kafka 3.9.77" in out


def test_a_suite_that_nobody_knows_is_told_with_the_matrix_that_names_it(harness, tmp_path):
    (tmp_path / "my.toml").write_text('schema=1\n[builds.a]\n[[ask]]\nbuilds=["a"]\nsuites=["standrad"]\n')
    code, _, err = harness("nightly", "--list", "--matrix", "my.toml")
    assert (code, "my.toml: No suite is named 'standrad'. Did you mean standard?" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--shard", "3/2"), "--shard 3/2 is not one of the parts"),
        (("--matrix", "nowhere.toml"), "The matrix nowhere.toml cannot be read"),
        (("--waivers", "nowhere.toml"), "The waivers file nowhere.toml cannot be read"),
    ],
)
def test_a_mistake_on_the_nightlys_command_line_is_a_sentence(harness, arguments, sentence, tmp_path):
    code, _, err = harness("nightly", *arguments)
    assert code == 2
    assert sentence in err
    assert not list(tmp_path.glob("out/*"))


def test_merge_writes_the_night_and_says_what_is_missing(harness, tmp_path):
    for shard in (1, 2):
        of = night("a", "b", shard=shard, shards=2)
        write_night_folder(tmp_path / f"n{shard}", of, {each.id: SHIP for each in of.mine})
    code, out, err = harness("merge", "n1", "--out", "part")
    assert code == 3
    assert "missing: shard 2/2 is missing: b" in err
    code, out, err = harness("merge", "n1", "n2", "--out", "whole")
    assert (code, err) == (0, "")
    assert "whole/index.html" in out
    assert {path.name for path in (tmp_path / "whole").iterdir()} >= {
        *("night.json", "index.html", "summary.md", "junit.xml", "retry.txt", "seconds.toml", "a", "b"),
    }
    assert json.loads((tmp_path / "out/history.jsonl").read_text())["schema"] == 2


def test_a_merge_that_fails_leaves_no_folder(harness, tmp_path):
    code, _, _ = harness("merge", "nowhere", "--out", "whole")
    assert code == 2
    assert not (tmp_path / "whole").exists()
