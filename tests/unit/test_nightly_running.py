"""A shard as it runs: each verification in its own folder, and none of them stops the night."""

import io
import json
from dataclasses import replace

import pytest
from nightly_sample import FAILED, STARVED, document, write_run
from rich.console import Console

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.cli import nightly
from harness.model.request import Request
from harness.model.runs import Verdict
from harness.nightly.concluding import conclude
from harness.nightly.folder import read_night
from harness.nightly.history import read_history
from harness.nightly.night import VerificationStatus
from harness.nightly.night_matrix import Verification
from harness.nightly.running import plan_night, run_shard
from harness.rundir.directory import RunDirectory
from harness.scenario.registry import load_all

QUIET = Reporter(Console(file=io.StringIO()))
REQUESTS = {
    "ships": Request(scenarios=("turn1",)),
    "holds": Request(scenarios=("turn2",)),
    "starves": Request(suite="bootstrap", repeats=2),
    "fails": Request(suite="bootstrap", offline=True),
    "crashes": Request(suite="bootstrap", jobs=1),
}
VERDICTS = {"ships": None, "holds": FAILED, "starves": STARVED}


def ask(request, run_dir, reporter):
    """Stand in for a verification: writes what one would leave, or goes wrong."""
    if run_dir.name == "fails":
        raise HarnessError("The jar is no jar.", "Give another.")
    if run_dir.name == "crashes":
        raise ZeroDivisionError("division by zero")
    verdict = document("ship", VERDICTS[run_dir.name])
    write_run(run_dir, verdict)
    return Verdict(verdict.verdict)


def planned(shard=1, shards=1, requests=REQUESTS, name=""):
    verifications = [Verification(key, request, 0.0) for key, request in requests.items()]
    return plan_night(
        verifications, load_all(), name=name, started_at="2026-03-05", matrix="a" * 64, shard=shard, shards=shards
    )


@pytest.fixture
def night(tmp_path):
    """Return the folder of a night in which everything happened that can."""
    run_shard(planned(), REQUESTS, tmp_path / "night", QUIET, ask)
    return tmp_path / "night"


def test_whatever_goes_wrong_in_one_verification_the_others_are_run(night):
    endings = {each.id: each.outcome for each in read_night(night).ended}
    assert endings == {
        "ships": VerificationStatus.SHIP,
        "holds": VerificationStatus.HOLD,
        "starves": VerificationStatus.INCONCLUSIVE,
        "fails": VerificationStatus.ERROR,
        "crashes": VerificationStatus.ERROR,
    }
    assert {each.name for each in night.iterdir() if each.is_dir()} == set(REQUESTS)


def test_an_error_is_reported_by_its_sentence_and_a_fault_keeps_its_traceback(night):
    errors = {each.id: each.error for each in read_night(night).ended}
    assert errors["fails"] == "The jar is no jar. Give another."
    assert errors["crashes"] == "ZeroDivisionError: division by zero"
    assert "Traceback" in (night / "crashes" / "error.txt").read_text()


def test_a_run_knows_the_command_that_runs_it_again(tmp_path):
    seen = []
    run_shard(
        planned(requests={"holds": REQUESTS["holds"]}),
        REQUESTS,
        tmp_path,
        QUIET,
        lambda r, *_: seen.append(r) or Verdict.SHIP,
    )
    assert seen[0].argv == ("verify", "--scenario", "turn2")


def test_shards_divide_the_night_between_them(tmp_path):
    parts = []
    for shard in (1, 2):
        run_shard(planned(shard, 2), REQUESTS, tmp_path / str(shard), QUIET, ask)
        parts.append({each.id for each in read_night(tmp_path / str(shard)).ended})
    assert parts[0] | parts[1] == set(REQUESTS)
    assert not parts[0] & parts[1]
    assert all(parts)


def test_an_interrupted_night_keeps_what_had_ended(tmp_path):
    def interrupted(request, run_dir, reporter):
        if run_dir.name == "holds":
            raise KeyboardInterrupt
        return ask(request, run_dir, reporter)

    with pytest.raises(KeyboardInterrupt):
        run_shard(planned(), REQUESTS, tmp_path, QUIET, interrupted)
    assert [each.id for each in read_night(tmp_path).ended] == ["ships"]
    assert [each.id for each in read_night(tmp_path).missing] == ["holds", "starves", "fails", "crashes"]


def test_a_night_that_is_all_there_goes_into_the_history_and_a_shard_does_not(tmp_path):
    history = tmp_path / "history.jsonl"
    run_shard(planned(1, 2), REQUESTS, tmp_path / "part", QUIET, ask)
    conclude(tmp_path / "part", history)
    assert read_history(history) == ()
    run_shard(planned(), REQUESTS, tmp_path / "whole", QUIET, ask)
    report = conclude(tmp_path / "whole", history)
    assert [each.label for each in read_history(history)] == ["2026-03-05"]
    assert report.exit_code == 1


def test_what_can_be_run_again_stands_in_the_retry_list_and_what_was_decided_does_not(night, tmp_path):
    conclude(night, tmp_path / "history.jsonl")
    assert (night / "retry.txt").read_text().splitlines() == [
        "harness verify --scenario turn2 --repeats 2",
        "harness verify --suite bootstrap --offline",
        "harness verify --suite bootstrap --jobs 1",
    ]


def test_each_report_shows_what_became_of_its_cells_in_the_nights_before(night, tmp_path):
    history = tmp_path / "history.jsonl"
    run_shard(replace(planned(), started_at="2026-03-04"), REQUESTS, tmp_path / "before", QUIET, ask)
    conclude(tmp_path / "before", history)
    conclude(night, history)
    page = (night / "holds" / "report.html").read_text()
    for spoken, kind, sign in (("not as claimed, not as claimed", "bad", "✕"), ("as claimed, as claimed", "good", "✓")):
        drawn = page[page.index(f'role="img" aria-label="{spoken}"') :]
        drawn = drawn[: drawn.index("</svg>")]
        assert (drawn.count(f'<g class="{kind}">'), drawn.count(sign)) == (2, 2)


def test_measured_seconds_are_written_as_the_matrix_takes_them(night, tmp_path):
    import tomllib

    conclude(night, tmp_path / "history.jsonl")
    assert set(tomllib.loads((night / "seconds.toml").read_text())["seconds"]) == {"ships", "holds", "starves"}


def test_a_suite_that_nobody_knows_is_reported_before_anything_runs():
    with pytest.raises(HarnessError, match="No suite is named 'bootstap'"):
        planned(requests={"a": Request(suite="bootstap")})


def test_the_night_as_json_says_who_runs_what(night):
    plain = json.loads((night / "night.json").read_text())
    assert plain["shards"] == 1
    assert {each["shard"] for each in plain["planned"]} == {1}


def test_a_verification_of_a_night_takes_nothing_over_from_another(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.stages.verify.verify", lambda *_: document("ship"))
    monkeypatch.setattr("harness.cli.common.toolbox_of", lambda _: None)
    assert nightly._verify(Request(), tmp_path, None) is Verdict.SHIP
    assert RunDirectory(tmp_path).request.read().fresh
