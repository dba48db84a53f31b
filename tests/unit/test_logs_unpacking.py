"""Logs that Spark cannot open are unpacked for it, or left out with the reason; nothing stays behind."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from harness.base.archives import is_archive
from harness.logs.read.unpacking import unpacked

CONTENT = b"[2026-11-21 14:28:58,949] INFO one (a.B)\n" * 1000


def packed(codec: str, content: bytes = CONTENT) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_frames_are_unpacked_for_the_time_being_whatever_they_are_called(tmp_path, codec):
    log, out = tmp_path / "server.log.1", tmp_path / "out"
    log.write_bytes(packed(codec))
    out.mkdir()
    with unpacked([str(log)], out) as found:
        (copy,) = found.copies.values()
        assert Path(copy).read_bytes() == CONTENT
    assert list(out.iterdir()) == []


def test_other_files_are_left_to_spark(tmp_path):
    for name, content in (("a.log", CONTENT), ("a.log.gz", gzip.compress(CONTENT)), ("empty.log", b"")):
        (tmp_path / name).write_bytes(content)
    places = [*map(str, tmp_path.iterdir()), str(tmp_path / "gone.log"), "s3a://bucket/a.log.zst"]
    with unpacked(places, tmp_path) as found:
        assert (found.copies, found.refused) == ({}, {})


@pytest.mark.parametrize(
    ("content", "why"), [(packed("zstd")[:40], "unpacked"), (packed("zstd", bytes(10**6)), "more than 100000 bytes")]
)
def test_what_is_torn_or_holds_too_much_is_told_and_the_rest_is_unpacked(tmp_path, content, why):
    (tmp_path / "bad.log.zst").write_bytes(content)
    (tmp_path / "good.log.zst").write_bytes(packed("zstd"))
    with unpacked([str(tmp_path / "bad.log.zst"), str(tmp_path / "good.log.zst")], tmp_path, 100_000) as found:
        assert [*found.copies] == [str(tmp_path / "good.log.zst")]
        assert [*found.refused] == [str(tmp_path / "bad.log.zst")]
        assert why in found.refused[str(tmp_path / "bad.log.zst")]


def tar(members: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return written.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return written.getvalue()


MEMBERS = {"kafka/server.log": CONTENT, "kafka/controller.log.1.gz": gzip.compress(CONTENT)}
TAR = tar(MEMBERS)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tar", TAR),
        ("a.tar.gz", gzip.compress(TAR)),
        ("a.tgz", gzip.compress(TAR)),
        ("a.tar.bz2", bz2.compress(TAR)),
        ("a.tar.xz", lzma.compress(TAR)),
        ("a.tar.zst", packed("zstd", TAR)),
        ("a.zip", zipped(MEMBERS)),
    ],
)
def test_the_logs_of_an_archive_are_named_by_it_and_their_place_in_it(tmp_path, name, content):
    place = tmp_path / name
    place.write_bytes(content)
    assert is_archive(str(place))
    with unpacked([str(place)], tmp_path) as found:
        assert found.members == {str(place): (f"{place}/kafka/controller.log.1.gz", f"{place}/kafka/server.log")}
        assert {Path(copy).read_bytes() for copy in found.copies.values()} == {CONTENT}
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("server.log.1.gz.old", gzip.compress(CONTENT)),
        ("server.log.xz", lzma.compress(CONTENT)),
        ("server.log", CONTENT.decode().encode("utf-16")),
        ("server.log.gz", b""),
    ],
)
def test_what_spark_would_not_open_is_known_by_its_first_bytes_and_not_by_its_name(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with unpacked([str(tmp_path / name)], tmp_path) as found:
        assert [Path(copy).read_bytes() for copy in found.copies.values()] == [CONTENT] * bool(content)


def test_an_archive_without_files_is_told(tmp_path):
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        folder = tarfile.TarInfo("logs")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    (tmp_path / "a.tar").write_bytes(written.getvalue())
    with unpacked([str(tmp_path / "a.tar")], tmp_path) as found:
        assert (found.copies, found.refused) == ({}, {str(tmp_path / "a.tar"): "it holds no files"})


def test_no_member_is_written_outside_and_links_are_none(tmp_path):
    out, written = tmp_path / "out", io.BytesIO()
    out.mkdir()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, kind in (
            ("../../up.log", tarfile.REGTYPE),
            ("/abs.log", tarfile.REGTYPE),
            ("l.log", tarfile.SYMTYPE),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    place = tmp_path / "a.tar"
    place.write_bytes(written.getvalue())
    with unpacked([str(place)], out) as found:
        assert found.members == {str(place): (f"{place}/abs.log", f"{place}/up.log")}
        assert all(Path(copy).is_relative_to(out.resolve()) for copy in found.copies.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar", "out"]


@pytest.mark.parametrize(
    ("content", "most", "why"),
    [
        (gzip.compress(TAR)[:100], 10**6, "ended before"),
        (gzip.compress(tar({"a.log": bytes(10**6)})), 10**5, "more than"),
        (zipped({f"{number}.log": b"" for number in range(20_001)}), 10**6, "more than 20000 members"),
    ],
    ids=["torn", "a bomb", "too many"],
)
def test_an_archive_that_is_torn_or_holds_too_much_is_left_out_whole(tmp_path, content, most, why):
    (tmp_path / "a.tar.gz").write_bytes(content)
    with unpacked([str(tmp_path / "a.tar.gz")], tmp_path, most) as found:
        assert (found.copies, found.members) == ({}, {})
        assert why in found.refused[str(tmp_path / "a.tar.gz")]


def test_a_member_that_an_archive_has_twice_takes_nothing_from_the_others(tmp_path):
    """`tar -r` and `-u` add what is there already; `server.log` and `./server.log` are one place."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in (("server.log", b"old"), ("./server.log", b"new"), ("controller.log", b"ctl")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    (place := tmp_path / "logs.tar").write_bytes(written.getvalue())
    with unpacked([str(place)], tmp_path) as found:
        read = {Path(name).name: Path(copy).read_bytes() for name, copy in found.copies.items()}
    assert read == {"server.log": b"new", "controller.log": b"ctl"}
