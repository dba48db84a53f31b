"""Merging the folders of many machines: all that is there, once, and a word on what is not."""

from dataclasses import replace
from pathlib import Path

import pytest
from nightly_sample import document, night, write_night_folder, write_run

from harness.base.errors import HarnessError
from harness.nightly.concluding import conclude
from harness.nightly.folder import NightFolder, read_night
from harness.nightly.history import read_history
from harness.nightly.merging import describe_missing, merge
from harness.nightly.night import VerificationStatus

NAMES = ("a", "b", "c", "d")
SHIP = document("ship")


@pytest.fixture
def shards(tmp_path):
    """Return the folders of two shards, with a report in each verification."""
    made = []
    for shard in (1, 2):
        of = night(*NAMES, shard=shard, shards=2, started=f"2026-03-05T01:00:0{shard}+00:00")
        made.append(write_night_folder(tmp_path / f"shard-{shard}", of, {each.id: SHIP for each in of.mine}))
    return made


def merged(folders, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    return merge(folders, out), out


def test_merged_shards_are_one_whole_night(shards, tmp_path):
    of, out = merged(shards, tmp_path)
    assert of.whole
    assert read_night(out) == of
    assert [each.id for each in of.ended] == list(NAMES)
    assert all((out / name / "report.html").is_file() for name in NAMES)
    assert describe_missing(of) == ()
    assert all((folder / "night.json").is_file() for folder in shards), "what was merged stays"


def test_holes_in_a_brokers_files_stay_holes(shards, tmp_path):
    index = shards[0] / "a" / "00000000000000000000.index"
    with index.open("wb") as stream:
        stream.write(b"entry")
        stream.truncate(10_000_000)
    _, out = merged(shards, tmp_path)
    copied = out / "a" / index.name
    assert copied.read_bytes() == index.read_bytes()
    assert copied.stat().st_blocks * 512 < 1_000_000


def test_the_order_of_the_folders_does_not_matter(shards, tmp_path):
    one, _ = merged(shards, tmp_path)
    (tmp_path / "two").mkdir()
    assert merge(shards[::-1], tmp_path / "two") == one


def test_a_missing_shard_is_named_with_what_it_was_to_run(shards, tmp_path):
    of, out = merged(shards[:1], tmp_path)
    assert describe_missing(of) == ("shard 2/2 is missing: b, d",)
    report = conclude(out, tmp_path / "history.jsonl")
    assert report.exit_code == 3
    assert len(report.retries) == 2


def test_a_shard_that_ended_early_is_named_too(tmp_path):
    of = night("a", "b", ended={"a": VerificationStatus.SHIP})
    of = replace(of, shard=1)
    found, _ = merged([write_night_folder(tmp_path / "n", of, {"a": SHIP})], tmp_path)
    assert describe_missing(found) == ("shard 1/1 did not finish: b",)


def test_a_shard_given_twice_counts_once(shards, tmp_path):
    import shutil

    again = tmp_path / "again"
    shutil.copytree(shards[0], again)
    of, _ = merged([*shards, again, shards[1]], tmp_path)
    assert len(of.ended) == 4


def test_two_runs_of_one_verification_are_refused_and_nothing_is_chosen(shards, tmp_path):
    import shutil

    again = tmp_path / "again"
    shutil.copytree(shards[0], again)
    (again / "a" / "verdict.json").write_text("{}")
    with pytest.raises(HarnessError, match=r"are both a and differ in verdict\.json"):
        merged([*shards, again], tmp_path)


def test_parts_of_different_nights_are_refused(shards, tmp_path):
    for change, sentence in (
        ({"matrix": "b" * 64}, "different matrices"),
        ({"name": "other"}, "different names"),
        ({"shards": 3}, "different numbers of shards"),
    ):
        other = write_night_folder(tmp_path / sentence, replace(night("x"), **{"shards": 2, **change}), {"x": SHIP})
        (tmp_path / f"{sentence} out").mkdir()
        with pytest.raises(HarnessError, match=sentence):
            merge([*shards, other], tmp_path / f"{sentence} out")


def test_single_runs_can_be_merged_under_their_folders_names(tmp_path):
    runs = [write_run(tmp_path / name, SHIP) for name in ("20260305-verify", "20260306-verify")]
    of, out = merged(runs, tmp_path)
    assert [each.id for each in of.ended] == ["20260305-verify", "20260306-verify"]
    assert conclude(out, tmp_path / "history.jsonl").exit_code == 0


def test_a_run_whose_folder_cannot_be_one_of_a_night_is_refused_before_anything_is_copied(tmp_path):
    write_run(tmp_path / "my run", SHIP)
    with pytest.raises(HarnessError, match="my run cannot be part of a night"):
        merged([tmp_path / "my run"], tmp_path)


def test_a_run_that_bears_a_verifications_name_and_runs_something_else_is_refused(shards, tmp_path):
    with pytest.raises(HarnessError, match="ran something else than b"):
        merged([shards[0], write_run(tmp_path / "b", SHIP)], tmp_path)


def test_a_run_that_was_run_again_goes_in_beside_what_it_ran_before(shards, tmp_path):
    of, _ = merged([*shards, write_run(tmp_path / "again-b", SHIP)], tmp_path)
    assert [each.id for each in of.ended] == [*NAMES, "again-b"]


def test_a_link_in_a_folder_is_refused(shards, tmp_path):
    (shards[0] / "a" / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(HarnessError, match="is a link"):
        merged(shards, tmp_path)


def test_what_ended_and_nobody_planned_is_refused(shards):
    file = NightFolder(shards[0]).night
    before = file.read()
    file.write(replace(before, ended=(replace(before.ended[0], id="z"), *before.ended[1:])))
    with pytest.raises(HarnessError, match="says that z has ended, which nobody planned"):
        read_night(shards[0])


@pytest.mark.parametrize("name", ["../a", "/etc", "", ".hidden", "a/b"])
def test_a_name_that_leads_out_of_the_night_is_refused(tmp_path, name):
    folder = write_night_folder(tmp_path / "n", night(name), {})
    with pytest.raises(HarnessError, match="no name of a folder"):
        merged([folder], tmp_path)


def test_a_folder_that_is_neither_night_nor_run_is_reported(tmp_path):
    with pytest.raises(HarnessError, match=r"is no run directory"):
        merged([tmp_path], tmp_path)


def test_shards_bring_their_waivers_and_must_agree_on_them(shards, tmp_path):
    NightFolder(shards[0]).waivers.write_text("")
    NightFolder(shards[1]).waivers.write_text("")
    _, out = merged(shards, tmp_path)
    assert NightFolder(out).waivers.is_file()
    NightFolder(shards[1]).waivers.write_text("# other")
    (tmp_path / "two").mkdir()
    with pytest.raises(HarnessError, match="different waivers"):
        merge(shards, tmp_path / "two")


def test_a_night_merged_again_with_a_late_shard_is_one_night_in_the_history(shards, tmp_path):
    history = tmp_path / "history.jsonl"
    for shard in shards:  # named by the CI, so that a late shard does not make another night of it
        of = read_night(shard)
        write_night_folder(shard, replace(of, name="build-7"), {})
    _, out = merged(shards[:1], tmp_path)
    conclude(out, history)
    (tmp_path / "two").mkdir()
    merge(shards, tmp_path / "two")
    conclude(tmp_path / "two", history)
    (past,) = read_history(history)
    assert (past.label, len(past.verified)) == ("build-7", 4)
    assert Path(shards[0]).is_dir()
