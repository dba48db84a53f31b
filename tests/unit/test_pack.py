"""A run directory as one file: it says elsewhere what it said here, and what somebody hostile packed is refused."""

import errno
import hashlib
import io
import json
import lzma
import shutil
import sys
import tarfile
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sample_run import write_sample

from harness.base import tar_xz
from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.cli import app as cli
from harness.logs.count_cache import SCHEMA as COUNTS_SCHEMA
from harness.model.findings import Contrast
from harness.model.log_totals import Totals
from harness.model.pack import MANIFEST, PackedFile, PackManifest, problem_of
from harness.model.request import Request, located
from harness.model.rollout import RollPlan
from harness.model.security import Security
from harness.model.setup import Setup
from harness.nightly.concluding import conclude
from harness.nightly.merging import merge
from harness.rundir.directory import RunDirectory
from harness.rundir.packed_inputs import translated
from harness.rundir.parts import LogsFolder
from harness.stages import unpack as unpack_stage
from harness.stages.convert import convert
from harness.stages.judge import judge_either, report_either
from harness.stages.pack import pack
from harness.stages.pack_contents import (
    CACHES,
    NOT_PLAIN,
    STORAGE,
    UNFINISHED,
    _walk,
    contents_of,
    kind_of,
    why_left_out,
)
from harness.stages.run_again import command_of, packed_series
from harness.stages.unpack import first_problem, unpack

QUIET = Reporter(Console(quiet=True))
REQUEST = Request(argv=("verify",))


@pytest.fixture(scope="module")
def converted(kept_folders, tmp_path_factory) -> Path:
    """Return kept folders as today's harness has them, judged and reported."""
    copies = tmp_path_factory.mktemp("converted")
    for name in ("ship", "hold-by-runs", "rollout-stopped"):
        shutil.copytree(kept_folders / name, copies / name)
        convert(copies / name, QUIET)
        judge_either(copies / name, QUIET)
        report_either(copies / name, QUIET)
    return copies


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def moved(folder: Path, tmp_path: Path) -> Path:
    """Pack a folder and unpack it elsewhere."""
    pack(folder, tmp_path / "x.tar.xz")
    return unpack(tmp_path / "x.tar.xz", lambda _: tmp_path / "elsewhere" / "run")[0]


@pytest.mark.parametrize("name", ["ship", "hold-by-runs", "rollout-stopped"])
def test_what_is_unpacked_has_the_same_report_and_is_judged_as_before(converted, tmp_path, name):
    folder = moved(converted / name, tmp_path)
    before = files(converted / name)
    assert {path: content for path, content in files(folder).items() if path in before} == before
    report_either(folder, QUIET)
    assert (folder / "report.html").read_bytes() == before["report.html"]
    assert judge_either(folder, QUIET) == judge_either(converted / name, QUIET)
    record = RunDirectory(folder)
    if name == "rollout-stopped":
        assert record.rollout.read() == RunDirectory(converted / name).rollout.read()
    else:
        assert record.verdict.read().reasons == RunDirectory(converted / name).verdict.read().reasons


def test_a_log_diff_that_was_of_other_runs_is_so_after_it_was_packed(converted, tmp_path):
    """A folder of before has no note of it but the times of its files."""
    shutil.copytree(converted / "ship", tmp_path / "ship")
    newest = RunDirectory(tmp_path / "ship").runs()[0].result.path
    newest.touch()
    verdict = judge_either(moved(tmp_path / "ship", tmp_path), QUIET)
    assert str(verdict) == "INCONCLUSIVE"
    assert str(judge_either(tmp_path / "ship", QUIET)) == "INCONCLUSIVE"


def test_a_folder_of_before_is_converted_first(kept_folders, tmp_path):
    with pytest.raises(HarnessError, match="schema 1"):
        pack(kept_folders / "ship", tmp_path / "p")


def test_a_night_is_packed_with_its_verifications(converted, tmp_path):
    merge([converted / "ship", converted / "hold-by-runs"], tmp_path / "night")
    conclude(tmp_path / "night", tmp_path / "history.jsonl")
    assert kind_of(tmp_path / "night") == "night"
    folder = moved(tmp_path / "night", tmp_path)
    again = conclude(folder, tmp_path / "other-history.jsonl")
    assert (str(again.outcome), [each.sentence for each in again.verifications]) == (
        "HOLD",
        [each.sentence for each in conclude(tmp_path / "night", tmp_path / "third.jsonl").verifications],
    )


def test_the_same_folder_gives_the_same_bytes_whenever_it_was_written(tmp_path):
    write_sample(tmp_path / "x")
    pack(tmp_path / "x", tmp_path / "first")
    for path in (tmp_path / "x").rglob("*"):
        path.chmod(0o700)
        path.touch()
    shutil.copytree(tmp_path / "x", tmp_path / "copy" / "x")
    pack(tmp_path / "copy" / "x", tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert (tmp_path / "first").stat().st_mode & 0o777 == 0o644
    with tarfile.open(tmp_path / "first") as tar:
        members = tar.getmembers()
    assert {(each.uid, each.gid, each.mode, each.mtime, each.type) for each in members} == {
        (0, 0, 0o644, 0, tarfile.REGTYPE)
    }
    assert [each.name for each in members[1:]] == sorted(each.name for each in members[1:])
    assert all(each.name.startswith("x/") for each in members[1:])


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("report.html", ""),
        ("runs/turn2/stock/1/nodes/0/server.log", ""),
        ("runs/turn2/stock/1/nodes/0/data/__cluster_metadata-0/0.log", STORAGE),
        ("night/coverage/runs/turn2/stock/1/nodes/0/data/meta.properties", STORAGE),
        ("runs/elections/stock/1/zookeeper/data/version-2/log.1", STORAGE),
        ("runs/turn2/stock/1/metadata-logs/one_leader/0/0.log", ""),
        ("inputs/scenarios/mine/__pycache__/pause.cpython-312.pyc", CACHES),
        ("java-1.jsa", CACHES),
        ("logs/spark-1/x", UNFINISHED),
        (".partial-verdict.json-x", UNFINISHED),
        ("runs/a\nb", "its name has characters that are no part of one"),
    ],
)
def test_what_nobody_needs_is_left_out(path, why):
    assert why_left_out(path) == why


def test_storage_that_a_result_names_is_evidence_and_links_are_left_out(tmp_path):
    folder = write_sample(tmp_path / "x")
    run = RunDirectory(tmp_path / "x").runs()[0]
    for name in ("named.log", "other.log"):
        (run.nodes / "0" / "data").mkdir(parents=True, exist_ok=True)
        (run.nodes / "0" / "data" / name).write_text(name)
    result = run.result.read()
    run.result.write(replace(result, evidence=(run.evidence(run.nodes / "0" / "data" / "named.log", 1),)))
    (tmp_path / "x" / "secret").symlink_to("/etc/passwd")
    (tmp_path / "x" / "folder").symlink_to("/etc")
    found = contents_of(tmp_path / "x")
    assert folder.name
    assert {each.path for each in found.files if "/data/" in each.path} == {f"{run.name}/nodes/0/data/named.log"}
    assert (found.left_out[STORAGE], found.left_out[NOT_PLAIN]) == (1, 2)


@pytest.fixture
def with_inputs(tmp_path) -> Path:
    """Return a run directory whose request names files of every kind outside of it."""
    mine = tmp_path / "mine"
    for path, text in {
        "a.jar": "jar",
        "claims.toml": "claims",
        "my.properties": "ssl.keystore.password=x",
        "scenarios/pause.py": "import os",
        "scenarios/.git/config": "hidden",
        "scenarios/client.properties": "sasl.jaas.config=secret",
        "scenarios/out/run/request.json": "{}",
        "series/series": "1.patch",
        "series/claims.toml": "claims of the series",
        "kafka/libs/kafka-raft-3.9.1.jar": "raft",
        "kafka/site-docs/large.tgz": "docs",
        "jdk/bin/java": "java",
    }.items():
        (mine / path).parent.mkdir(parents=True, exist_ok=True)
        (mine / path).write_text(text)
    write_sample(tmp_path / "x")
    directory = RunDirectory(tmp_path / "x")
    request = Request(
        jar=mine / "a.jar",
        claims=str(mine / "claims.toml"),
        config=mine / "my.properties",
        scenario_folders=(mine / "scenarios",),
        base_dist=mine / "kafka",
        java_home=mine / "jdk",
        waivers=mine / "gone.toml",
    )
    directory.request.write(located(request))
    directory.setup.write(Setup("key", claims=str(mine / "series/claims.toml"), series=str(mine / "series")))
    return tmp_path / "x"


def test_what_lies_outside_comes_with_it_and_is_found_where_it_is_unpacked(with_inputs, tmp_path):
    folder = moved(with_inputs, tmp_path)
    shutil.rmtree(tmp_path / "mine")
    request, setup = RunDirectory(folder).request.read(), RunDirectory(folder).setup.read()
    assert request.jar.read_text() == "jar"
    assert Path(request.claims).read_text() == "claims"
    assert Path(setup.claims).read_text() == "claims of the series"
    assert Path(setup.series, "series").read_text() == "1.patch"
    assert [path.name for path in request.scenario_folders[0].rglob("*")] == ["pause.py"]  # and no notes
    assert [path.name for path in request.base_dist.rglob("*.*")] == ["kafka-raft-3.9.1.jar"]
    assert request.java_home == tmp_path / "mine" / "jdk"
    assert {path.relative_to(folder).parts[0] for path in (request.jar, request.config)} == {"inputs"}
    assert f"--jar {request.jar}" in command_of(folder)
    assert packed_series(folder) == folder / "inputs" / "series" / "series"
    folder.rename(tmp_path / "moved-on")
    assert RunDirectory(tmp_path / "moved-on").request.read().jar.read_text() == "jar"


def test_what_is_wanted_and_not_in_it_is_listed(with_inputs, tmp_path):
    manifest = pack(with_inputs, tmp_path / "p").manifest
    assert manifest.lacks == (f"--java-home {tmp_path}/mine/jdk", f"--waivers {tmp_path}/mine/gone.toml")


def test_what_was_unpacked_is_packed_again_to_the_same_bytes(with_inputs, tmp_path):
    first = pack(with_inputs, tmp_path / "first").manifest
    folder, _ = unpack(tmp_path / "first", lambda _: tmp_path / "other" / "x")
    shutil.rmtree(tmp_path / "mine" / "scenarios")
    assert pack(folder, tmp_path / "second").manifest.files == first.files


def test_of_what_was_unpacked_nothing_elsewhere_is_packed_whoever_names_it(with_inputs, tmp_path):
    """Who made the pack wrote which files these are, and gets back what is packed."""
    found = pack(with_inputs, tmp_path / "first")
    assert str(tmp_path / "mine" / "a.jar") in found.contents.outside
    folder, _ = unpack(tmp_path / "first", lambda _: tmp_path / "other" / "x")
    private = tmp_path / "id_ed25519"
    private.write_text("private")
    request = RunDirectory(folder).request
    request.write(replace(request.read(), jar=private))
    again = pack(folder, tmp_path / "second")
    assert f"--jar {private}" in again.manifest.lacks
    assert again.contents.outside == ()
    assert not [each for each in again.manifest.files if "ed25519" in each.path]


def test_nor_is_it_where_the_pack_says_nothing_of_what_lies_where(tmp_path):
    for name in ("x", "x/in-a-night"):
        (tmp_path / name).mkdir(exist_ok=True)
        RunDirectory(tmp_path / name).request.write(replace(REQUEST, jar=tmp_path / "gone.jar"))
    folder, _ = unpack(pack_of(tmp_path / "x", tmp_path), lambda _: tmp_path / "y")
    (tmp_path / "gone.jar").write_text("private")
    assert pack(folder, tmp_path / "again").contents.outside == ()


def test_passwords_in_a_pack_are_named(with_inputs, tmp_path):
    directory = RunDirectory(with_inputs)
    overlay = {"ssl.keystore.password": "x", "log.dirs": "/d", "sasl.jaas.config": "y"}
    directory.setup.write(replace(directory.setup.read(), overlay=overlay))
    assert pack(with_inputs, tmp_path / "p").contents.secrets == ("sasl.jaas.config", "ssl.keystore.password")


def test_a_file_that_scripts_are_given_is_named_and_never_packed(tmp_path):
    config = tmp_path / "client.properties"
    config.write_text("sasl.password=hunter2")
    directory = RunDirectory(tmp_path / "x")
    (tmp_path / "x").mkdir()
    directory.request.write(REQUEST)
    directory.roll_plan.write(RollPlan("3+3", (), (), 0.0, command_config=str(config), security=Security()))
    assert command_of(tmp_path / "x") == f"harness rollout --command-config {config}"
    folder, manifest = unpack(pack_of(tmp_path / "x", tmp_path), lambda _: tmp_path / "y")
    assert manifest.lacks == (f"--command-config {config}",)
    assert not any(b"hunter2" in content for content in files(folder).values())


def test_a_rollout_is_run_again_with_its_own_options(tmp_path):
    directory = RunDirectory(tmp_path)
    directory.request.write(REQUEST)
    directory.roll_plan.write(RollPlan("3combined+1", (3, 0, 1, 2), ("control",), 2.5))
    assert command_of(tmp_path) == (
        "harness rollout --topology 3combined+1 --order 3,0,1,2 --rehearse control --stall-budget 2.5"
    )


def test_places_outside_of_the_folder_are_refused(tmp_path):
    (tmp_path / "inputs.json").write_text('{"places": {"/a": "../../etc/passwd"}}')
    with pytest.raises(HarnessError, match="outside"):
        translated({}, tmp_path)


def test_only_whole_paths_are_translated(tmp_path):
    (tmp_path / "inputs.json").write_text('{"places": {"/a": "inputs/a", "/a/b": "inputs/b"}}')
    assert translated({"x": ["/a/c", "/ab", "/a/b/d", 1]}, tmp_path) == {
        "x": [f"{tmp_path}/inputs/a/c", "/ab", f"{tmp_path}/inputs/b/d", 1]
    }


# What is hostile or damaged.


def listed(path: str, content: bytes) -> PackedFile:
    return PackedFile(path, len(content), hashlib.sha256(content).hexdigest())


def written(tmp_path: Path, files: tuple[PackedFile, ...], members, name="x") -> Path:
    """Write an archive with a manifest of `files` that holds `members`: TarInfo and content."""
    head = to_json(PackManifest(1, name, "verification", files)).encode()
    with lzma.open(tmp_path / "bad", "wb") as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for info, content in ((member(MANIFEST, head), head), *members):
            tar.addfile(info, io.BytesIO(content))
    return tmp_path / "bad"


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, link
    return info


def refused(path: Path, tmp_path: Path) -> str:
    """Return why a pack is refused; nothing of it may be left."""
    with pytest.raises(HarnessError) as caught:
        unpack(path, lambda _: tmp_path / "made" / "x")
    assert not (tmp_path / "made").exists() or list((tmp_path / "made").iterdir()) == []
    return str(caught.value)


A = listed("a", b"a")


@pytest.mark.parametrize(
    ("files", "members", "why"),
    [
        ((listed("../a", b"a"),), [], "points outside"),
        ((listed("/etc/a", b"a"),), [], "points outside"),
        ((listed("b/../../a", b"a"),), [], "points outside"),
        ((A, A), [], "twice"),
        ((A, listed("a/b", b"")), [], "as a file and as a folder"),
        ((listed("a\x1b[31m", b"a"),), [], "characters"),
        ((listed("a" * 256, b"a"),), [], "too long"),
        ((replace(A, size=1 << 40),), [], "unpacks to"),
        ((A,), [(member("x/a", b"b"), b"b")], "another SHA-256"),
        ((A,), [(member("x/a", b"aa"), b"aa")], "where its list has 'a' of 1"),
        ((A,), [(member("x/b", b"a"), b"a")], "holds 'x/b'"),
        ((A,), [(member("x/../a", b"a"), b"a")], "holds 'x/../a'"),
        ((A,), [], "it ends where its list has 'a'"),
        ((A,), [(member("x/a", b"a"), b"a"), (member("x/b", b"a"), b"a")], "its list does not name"),
        ((A,), [(member("x/a", kind=tarfile.SYMTYPE, link="/etc/passwd"), b"")], "no plain file"),
        ((A,), [(member("x/a", kind=tarfile.LNKTYPE, link="/etc/passwd"), b"")], "no plain file"),
        ((A,), [(member("x/a", kind=tarfile.CHRTYPE), b"")], "no plain file"),
        ((A,), [(member("x/a", kind=tarfile.FIFOTYPE), b"")], "no plain file"),
        ((A,), [(member("x/a", kind=tarfile.DIRTYPE), b"")], "no plain file"),
        ((A,), [(member("x/a", kind=tarfile.GNUTYPE_SPARSE), b"")], "no plain file"),
        ((A,), [(member("x", bytes(1 << 20), tarfile.XHDTYPE), bytes(1 << 20))], "too long"),
        ((A,), [(member("x", b"9 size=1\n", tarfile.XHDTYPE), b"9 size=1\n")], "more than a name"),
    ],
)
def test_a_pack_that_no_harness_writes_is_refused_and_leaves_nothing(tmp_path, files, members, why):
    assert why in refused(written(tmp_path, files, members), tmp_path)


def test_nothing_that_a_pack_says_of_itself_acts_on_the_terminal(harness, tmp_path):
    head = to_json(PackManifest(1, "x", "verification\x1b[2J", (), ("--jar \x1b[31m",))).encode()
    tar_xz.write_archive(tmp_path / "p", [(tar_xz.Member(MANIFEST, len(head)), head)])
    code, said = harness("unpack", "p")
    assert code == 0
    assert "\x1b" not in said


def test_a_folder_that_somebody_else_made_meanwhile_is_left_alone(small, tmp_path):
    def choose(_):
        (tmp_path / "x").mkdir()
        (tmp_path / "x" / "theirs").write_text("x")
        return tmp_path / "x"

    with pytest.raises(HarnessError, match="cannot be made"):
        unpack(small, choose)
    assert files(tmp_path / "x") == {"theirs": b"x"}


@pytest.mark.parametrize("name", ["..", "a/b", ".", "a\nb"])
def test_a_pack_whose_name_is_no_folder_is_refused(tmp_path, name):
    assert "it is called" in refused(written(tmp_path, (), [], name), tmp_path)


def test_what_is_no_pack_is_said_to_be_none(tmp_path):
    (tmp_path / "text").write_text("hello")
    assert "no whole pack" in refused(tmp_path / "text", tmp_path)
    with lzma.open(tmp_path / "tar", "wb") as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        tar.addfile(member("x/a"))
    assert "no pack of the harness: it begins with 'x/a'" in refused(tmp_path / "tar", tmp_path)
    assert "cannot be read" in refused(tmp_path, tmp_path)
    assert "cannot be read" in refused(tmp_path / "none", tmp_path)


def test_a_pack_of_a_later_harness_is_refused_by_its_schema(tmp_path):
    head = to_json(PackManifest(9, "x", "verification", ())).encode()
    tar_xz.write_archive(tmp_path / "p", [(tar_xz.Member(MANIFEST, len(head)), head)])
    assert "this harness reads schema 1" in refused(tmp_path / "p", tmp_path)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """Return a small whole pack."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "x").mkdir()
    (folder / "x" / "request.json").write_text(to_json(REQUEST))
    (folder / "x" / "holes").write_bytes(b"a" + bytes(3 << 20) + b"b")
    pack(folder / "x", folder / "p")
    return folder / "p"


@given(st.data())
def test_a_pack_that_was_damaged_anywhere_is_never_unpacked_as_something_else(small, tmp_path_factory, data):
    content = bytearray(small.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] ^= data.draw(st.integers(1, 255))
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "p").write_bytes(content)
    refused(folder / "p", folder)


def test_bytes_behind_the_end_are_refused(small, tmp_path):
    (tmp_path / "p").write_bytes(small.read_bytes() * 2)
    assert "behind its end" in refused(tmp_path / "p", tmp_path)


def test_holes_take_no_room(small, tmp_path):
    folder, _ = unpack(small, lambda _: tmp_path / "x")
    seen = (folder / "holes").stat()
    assert (folder / "holes").read_bytes() == b"a" + bytes(3 << 20) + b"b"
    assert seen.st_blocks * 512 < 1 << 20


def test_long_and_foreign_names_come_back(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "request.json").write_text(to_json(REQUEST))
    name = "/".join(["ordner-mit-ä-" + "n" * 90] * 3)
    (tmp_path / "x" / name).parent.mkdir(parents=True)
    (tmp_path / "x" / name).write_text("x")
    assert (moved(tmp_path / "x", tmp_path) / name).read_text() == "x"


@given(st.text(max_size=30))
def test_a_path_without_a_problem_stays_below_its_folder(path):
    if not problem_of(path):
        assert ".." not in Path(path).parts
        assert not Path(path).is_absolute()
        assert path


def test_too_many_files_are_refused_before_any_is_written():
    files = tuple(PackedFile(str(number), 0, "0" * 64) for number in range(100_001))
    assert "at most 100000" in first_problem(PackManifest(1, "x", "night", files))


def test_a_list_of_deep_paths_takes_no_more_memory_than_it_has_itself():
    files = tuple(PackedFile("/".join((str(number), *["x"] * 400)), 0, "0" * 64) for number in range(500))
    tracemalloc.start()
    assert first_problem(PackManifest(1, "x", "night", files)) == ""
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4_000_000


def test_ctrl_c_and_a_full_disk_leave_nothing_half_written(small, tmp_path, monkeypatch):
    def interrupted(_):
        yield b"a"
        raise KeyboardInterrupt

    real = unpack_stage._manifest

    def then_interrupted(*arguments):
        manifest = real(*arguments)
        monkeypatch.setattr(tar_xz.ArchiveReader, "pieces", interrupted)
        return manifest

    monkeypatch.setattr(unpack_stage, "_manifest", then_interrupted)
    with pytest.raises(KeyboardInterrupt):
        unpack(small, lambda _: tmp_path / "made" / "x")
    assert list((tmp_path / "made").iterdir()) == []
    (tmp_path / "made").rmdir()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "request.json").write_text(to_json(REQUEST))
    monkeypatch.setattr(tarfile.TarFile, "addfile", full)
    with pytest.raises(OSError, match="No space left"):
        pack(tmp_path / "x", tmp_path / "p")
    assert {path.name for path in tmp_path.iterdir()} == {"x"}


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path, monkeypatch):
    write_sample(tmp_path / "x")
    log = tmp_path / "x" / "runs.log"
    log.write_text("first")
    real = tar_xz.write_archive

    def after_a_change(path, members):
        log.write_text("other")
        real(path, members)

    monkeypatch.setattr("harness.stages.pack.write_archive", after_a_change)
    with pytest.raises(HarnessError, match="changed while it was packed"):
        pack(tmp_path / "x", tmp_path / "p")
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("log diff", ("findings.json", "totals.json", "diff.html", "counts/run=1/counts.parquet")),
        ("upgrade notes", ("base.json", "candidate.json", "upgrade.json", "upgrade.html")),
        ("topic-id check", ("topic-ids.json", "topic-ids.html")),
        ("table of mutants", ("mutants.json", "mutants.md", "wrong/runs/turn2/jar/1/result.json")),
        ("power curve", ("power.json",)),
        ("rollout", ("roll-plan.json", "run.json")),
    ],
)
def test_whatever_the_harness_made_is_packed_whole(tmp_path, kind, names):
    for name in names:
        (tmp_path / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x" / name).write_text(name)
    folder, manifest = unpack(pack_of(tmp_path / "x", tmp_path), lambda _: tmp_path / "y")
    assert manifest.kind == kind
    assert files(folder) == files(tmp_path / "x")


def test_a_pack_of_a_log_diff_says_that_the_logs_are_not_in_it(tmp_path):
    logs = LogsFolder(tmp_path / "x")
    logs.totals.write(Totals(COUNTS_SCHEMA, (), ()))
    logs.findings.write((Contrast("/logs/before", "/logs/after", ()),))
    _, manifest = unpack(pack_of(tmp_path / "x", tmp_path), lambda _: tmp_path / "y")
    assert manifest.lacks == ("the logs of /logs/before", "the logs of /logs/after")


def test_a_damaged_request_hinders_nobody_from_packing_what_is_there(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "request.json").write_text("{")
    assert files(moved(tmp_path / "x", tmp_path)) == {"request.json": b"{"}


def pack_of(folder: Path, tmp_path: Path) -> Path:
    pack(folder, tmp_path / "p")
    return tmp_path / "p"


def test_a_folder_that_the_harness_did_not_make_is_not_packed(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(HarnessError, match="nothing that the harness made"):
        pack(tmp_path / "x", tmp_path / "p")


# The commands.


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command line in an empty folder: exit code, and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        code = cli._run()
        out, err = capsys.readouterr()
        return code, out + err

    return run


def test_the_commands_say_what_is_in_a_pack_and_what_can_be_done_with_it(harness, tmp_path):
    write_sample(tmp_path / "mine")
    RunDirectory(tmp_path / "mine").request.write(REQUEST)
    code, said = harness("pack", "mine")
    assert code == 0
    assert "verification mine:" in said
    digest = hashlib.sha256((tmp_path / "mine.tar.xz").read_bytes()).hexdigest()
    assert f"mine.tar.xz  {(tmp_path / 'mine.tar.xz').stat().st_size / 1e3:.1f} kB\nsha256 {digest}" in said
    code, said = harness("unpack", "mine.tar.xz")
    assert code == 0
    assert "open it:      harness open out/mine\n" in said
    judged = "judge it:     harness judge out/mine; harness report out/mine\n"
    assert judged in said, "a HOLD is written up too"
    assert "run it again: harness verify\n" in said
    assert "Whoever packed it wrote its pages" in said
    assert json.loads((tmp_path / "out/mine/run.json").read_text())["schema"] == 2
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"mine"}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("pack", "none"), "none is nothing that the harness made."),
        (("pack", "mine", "--out", "there"), "there is there already."),
        (("pack", "mine", "--out", "mine/p"), "mine/p lies in the folder that is packed."),
        (("pack", "mine", "--out", "there/p"), "there cannot be made: File exists."),
        (("unpack", "there"), "there is no whole pack"),
        (("unpack", "p", "--out", "mine"), "mine is there already, and not empty."),
        (("unpack", "p", "--out", "there"), "there is there already, and not empty."),
    ],
)
def test_mistakes_are_said_in_a_sentence(harness, tmp_path, arguments, why):
    write_sample(tmp_path / "mine")
    pack(tmp_path / "mine", tmp_path / "p")
    (tmp_path / "there").write_text("x")
    code, said = harness(*arguments)
    assert code == 2
    assert why in said
    assert "internal error" not in said


def test_a_folder_that_may_not_be_looked_into_is_named_and_not_passed_over(tmp_path, monkeypatch):
    """Its nodes ran as another user: a pack without them would look whole."""

    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", refused)
    with pytest.raises(HarnessError, match=rf"The folder {tmp_path} cannot be looked into: Permission denied"):
        list(_walk(tmp_path))
