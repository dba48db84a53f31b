"""Logs that Spark cannot open are unpacked for it, or left out with the reason; nothing stays behind."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

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
