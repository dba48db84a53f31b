"""Archives of a whole Kafka: only jars are written, below the folder that is named, and nothing hostile."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_kafka import whole_kafka

from harness.base import tar_headers, tarballs
from harness.base.errors import HarnessError
from harness.base.tarballs import unpack
from harness.kafka.distribution import as_declared, distribution_at


def entry(name, content=b"x", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def symlink(name, target):
    return entry(name, b"", type=tarfile.SYMTYPE, linkname=target)


def hard_link(name, target):
    return entry(name, b"", type=tarfile.LNKTYPE, linkname=target)


def archive(path, *entries, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for info, content in entries:
            tar.addfile(info, io.BytesIO(content) if info.isreg() else None)
    return path


def packed(folder, into, top="kafka_2.13-3.9.1"):
    with tarfile.open(into, "w:gz") as tar:
        tar.add(folder, arcname=top)
    return into


def test_an_archive_is_the_kafka_that_it_holds_and_is_unpacked_once(tmp_path):
    folder = whole_kafka(tmp_path / "kafka")
    (folder / "bin").mkdir()
    (folder / "bin" / "kafka-topics.sh").write_text("#!/bin/sh\n")
    tgz = packed(folder, tmp_path / "kafka.tgz")
    found = distribution_at(tgz, tmp_path / "cache")
    assert as_declared(found, tgz).jars == as_declared(distribution_at(folder, tmp_path), folder).jars
    assert str(tgz) in found.description
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.suffix == ".sh"]
    before = found.raft_jar.stat().st_ino
    assert distribution_at(tgz, tmp_path / "cache").raft_jar.stat().st_ino == before


@pytest.mark.parametrize("spoil", [lambda jar: jar.write_bytes(b"other"), lambda jar: jar.unlink()])
def test_jars_that_were_changed_in_the_cache_are_unpacked_anew(tmp_path, spoil):
    tgz = packed(whole_kafka(tmp_path / "kafka"), tmp_path / "kafka.tgz")
    before = as_declared(distribution_at(tgz, tmp_path / "cache"), tgz)
    (jar,) = (tmp_path / "cache").rglob("jetty-9.4.jar")
    spoil(jar)
    assert as_declared(distribution_at(tgz, tmp_path / "cache"), tgz) == before


@pytest.mark.parametrize("top", [".", "kafka"])
def test_libs_may_lie_at_the_top_or_one_folder_below(tmp_path, top):
    tgz = packed(whole_kafka(tmp_path / "kafka"), tmp_path / "kafka.tgz", top)
    assert distribution_at(tgz, tmp_path / "cache").version == "3.9.1"


def test_an_archive_of_no_kafka_and_one_of_two_are_refused(tmp_path):
    none = archive(tmp_path / "none.tgz", entry("readme.txt"))
    with pytest.raises(HarnessError, match="it has 0 folders libs/ with jars"):
        distribution_at(none, tmp_path / "cache")
    two = archive(tmp_path / "two.tgz", entry("a/libs/x.jar"), entry("b/libs/x.jar"))
    with pytest.raises(HarnessError, match="it has 2 folders libs/ with jars"):
        distribution_at(two, tmp_path / "cache")
    assert not [*(tmp_path / "cache" / "distributions").iterdir()]


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([entry("../libs/x.jar")], "points outside"),
        ([entry("/etc/libs/x.jar")], "points outside"),
        ([symlink("k/libs/x.jar", "/etc/passwd")], "is a link to '/etc/passwd', which is no jar in it"),
        ([entry("k/libs/y.jar"), symlink("k/libs/x.jar", "/k/libs/y.jar")], "is a link to '/k/libs/y.jar', which"),
        ([symlink("k/libs/x.jar", "../../../etc/libs/y.jar")], "is a link to '../etc/libs/y.jar', which"),
        ([symlink("k/libs/x.jar", "x.jar")], "is a link to 'k/libs/x.jar', which is no jar in it"),
        ([symlink("k/libs/x.jar", "y.jar"), symlink("k/libs/y.jar", "x.jar")], "is a link to 'k/libs/y.jar', which"),
        (
            [entry("k/libs/z.jar"), symlink("k/libs/y.jar", "z.jar"), symlink("k/libs/x.jar", "y.jar")],
            "'k/libs/x.jar' is a link to 'k/libs/y.jar', which",
        ),
        ([entry("k/a.txt"), symlink("k/libs/x.jar", "../a.txt")], "is a link to 'k/a.txt', which"),
        ([entry("k/a"), hard_link("k/libs/x.jar", "k/a")], "is a link to 'k/a', which is no jar in it"),
        ([entry("k/libs/x.jar"), symlink("k/libs/x.jar", "y.jar")], "twice"),
        ([symlink("k/libs/x.jar", "y.jar"), entry("k/libs/x.jar"), entry("k/libs/y.jar")], "twice"),
        ([entry("k/libs/x.jar", b"", type=tarfile.FIFOTYPE)], "is no plain file"),
        ([entry("k/libs/x.jar"), entry("k/libs/x.jar", b"y")], "twice"),
    ],
)
def test_hostile_entries_are_refused_and_leave_nothing(tmp_path, entries, problem):
    with pytest.raises(HarnessError, match=problem):
        distribution_at(archive(tmp_path / "x.tgz", *entries), tmp_path / "cache")
    assert not [*(tmp_path / "cache" / "distributions").iterdir()]


def test_a_link_to_another_jar_of_the_archive_is_that_jar_wherever_it_stands(tmp_path):
    links = (symlink("c/libs/kafka.jar", "./kafka_2.13.jar"), hard_link("./c/libs/other.jar", "c/libs/kafka_2.13.jar"))
    made = archive(tmp_path / "x.tgz", *links, entry("c/libs/kafka_2.13.jar", b"the broker"))
    found = unpack(made, tmp_path / "out", lambda path: path.suffix == ".jar")
    assert {path.name for path in found} == {"kafka.jar", "other.jar", "kafka_2.13.jar"}
    assert [(tmp_path / "out" / path).read_bytes() for path in found] == [b"the broker"] * 3
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_symlink()]


def test_an_archive_of_confluents_with_the_link_of_its_class_path_is_a_kafka(tmp_path):
    libs = whole_kafka(tmp_path / "made", "7.9.1-ccs") / "libs"
    shared = tmp_path / "confluent" / "share" / "java" / "kafka"
    shared.parent.mkdir(parents=True)
    libs.rename(shared)
    (shared / "kafka.jar").symlink_to("./kafka_2.13-7.9.1-ccs.jar")
    tgz = packed(tmp_path / "confluent", tmp_path / "confluent.tgz", "confluent-7.9.1")
    jars = as_declared(distribution_at(tgz, tmp_path / "cache"), tgz).jars
    assert jars == as_declared(distribution_at(tmp_path / "confluent", tmp_path), tgz).jars
    assert jars["kafka.jar"] == jars["kafka_2.13-7.9.1-ccs.jar"]


def test_what_a_link_stands_for_counts_among_what_an_archive_unpacks_to(tmp_path, monkeypatch):
    links = (symlink(f"k/libs/{number}.jar", "x.jar") for number in range(3))
    bomb = archive(tmp_path / "x.tgz", entry("k/libs/x.jar", b"0" * 1500), *links)
    monkeypatch.setattr(tarballs, "_MOST_BYTES", 4000)
    with pytest.raises(HarnessError, match="unpacks to more than 4000 bytes"):
        unpack(bomb, tmp_path / "out", lambda _: True)


def test_a_link_that_is_refused_has_its_remedy(tmp_path):
    made = archive(tmp_path / "x.tgz", symlink("k/libs/x.jar", "/usr/share/java/x.jar"))
    with pytest.raises(HarnessError) as refused:
        distribution_at(made, tmp_path / "cache")
    assert refused.value.hint == "Unpack it yourself, and name the folder."


def test_more_than_any_kafka_has_is_refused(tmp_path, monkeypatch):
    bomb = archive(tmp_path / "x.tgz", entry("k/big", b"0" * 5000))
    monkeypatch.setattr(tarballs, "_MOST_BYTES", 4000)
    with pytest.raises(HarnessError, match="unpacks to more than 4000 bytes"):
        unpack(bomb, tmp_path / "out", lambda _: True)
    many = archive(tmp_path / "y.tgz", *(entry(f"k/{number}") for number in range(9)))
    monkeypatch.setattr(tarballs, "_MOST_ENTRIES", 8)
    with pytest.raises(HarnessError, match="more than 8 entries"):
        unpack(many, tmp_path / "out2", lambda _: False)


def test_headers_about_headers_are_refused_when_they_are_long_or_many(tmp_path):
    """Both take few bytes in an archive that is compressed, and all there is where they are read."""
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 3 << 20
    one = long_name.tobuf(tarfile.GNU_FORMAT) + b"a" * long_name.size
    with gzip.open(tmp_path / "long.tgz", "wb") as file:
        file.write(one)
    with pytest.raises(HarnessError, match=f"claims {3 << 20} bytes"):
        unpack(tmp_path / "long.tgz", tmp_path / "out", lambda _: True)
    long_name.size = 1
    with gzip.open(tmp_path / "many.tgz", "wb") as file:
        file.write((long_name.tobuf(tarfile.GNU_FORMAT) + b"a" + bytes(511)) * 2000)
    with pytest.raises(HarnessError, match="is not a whole tar archive"):
        unpack(tmp_path / "many.tgz", tmp_path / "out", lambda _: True)


@given(cut=st.integers(min_value=0), flipped=st.integers(min_value=0))
def test_a_damaged_archive_is_refused_or_what_it_gives_is_right(tmp_path_factory, cut, flipped):
    folder, jars = tmp_path_factory.mktemp("damaged"), {"a.jar": b"abc" * 500, "b.jar": b"x"}
    made = archive(folder / "whole.tgz", *(entry(f"k/libs/{name}", content) for name, content in jars.items()))
    whole = made.read_bytes()
    damaged = bytearray(whole[: len(whole) - cut % len(whole)])
    damaged[flipped % len(damaged)] ^= 0x55
    (folder / "x.tgz").write_bytes(damaged)
    try:
        found = unpack(folder / "x.tgz", folder / "out", lambda path: path.suffix == ".jar")
    except HarnessError:
        return
    assert {path.name: (folder / "out" / Path(*path.parts)).read_bytes() for path in found} == jars


def test_a_file_with_holes_and_a_header_that_is_cut_off_are_no_whole_archive(tmp_path):
    sparse = tarfile.TarInfo("kafka/libs/x.jar").tobuf(tarfile.GNU_FORMAT)
    sparse = bytearray(sparse[:156] + tarfile.GNUTYPE_SPARSE + sparse[157:])
    sparse[482] = 1  # more of its list follows
    sparse[148:156] = b"%06o\0 " % (sum(sparse[:148]) + sum(sparse[156:]) + 8 * 32)
    (tmp_path / "x.tgz").write_bytes(gzip.compress(bytes(sparse) + b"\0" * 100))
    with pytest.raises(HarnessError, match="is not a whole tar archive: a file in it has holes"):
        unpack(tmp_path / "x.tgz", tmp_path / "out", lambda _: True)


def test_headers_that_are_small_each_and_large_together_are_refused_before_memory_is(tmp_path, monkeypatch):
    monkeypatch.setattr(tar_headers, "_MOST_BYTES_IN_ALL", 50_000)
    entries = [entry(f"kafka/{n}", pax_headers={"comment": "x" * 2_000}) for n in range(50)]
    with pytest.raises(HarnessError, match=r"a header in it claims .* bytes, and all of them"):
        unpack(archive(tmp_path / "x.tgz", *entries), tmp_path / "out", lambda _: True)
    assert unpack(archive(tmp_path / "y.tgz", *entries[:20]), tmp_path / "out", lambda _: True)
