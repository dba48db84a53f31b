"""Archives of others: what is taken into memory is bounded, whatever their lists say."""

import struct
import tracemalloc
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base import archives
from harness.base.archives import contents, is_class, open_archive, open_library, read_entry
from harness.base.errors import HarnessError
from harness.proof import bytecode
from harness.proof.dropin.constants import held_by
from harness.upgrade.jar_facts import java_needed

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")
MANY = 20_001  # more than a jar of Kafka's may have


@pytest.fixture
def shaded(tmp_path):
    """Return a library with more entries than a jar of Kafka's may have, and with licences of several makers."""
    path = tmp_path / "shaded.jar"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(MANY):
            archive.writestr(f"a/{number}.txt", b"")
        for content in (b"mine", b"yours"):
            archive.writestr("META-INF/LICENSE", content)
        archive.writestr("kafka/Kafka.class", b"\xca\xfe\xba\xbe\0\0\0\x37old text")
    return path


def test_a_library_is_read_where_a_jar_of_kafkas_like_it_is_refused(shaded):
    with pytest.raises(HarnessError, match=f"has {MANY + 3} entries"):
        open_archive(shaded)
    open_library(shaded).close()
    assert [*contents(shaded, lambda name: name == "META-INF/LICENSE")] == [b"mine", b"yours"]


def test_what_the_classes_of_a_library_use_hold_and_need_is_read(shaded, monkeypatch):
    monkeypatch.setattr(bytecode, "answer_of", lambda *_, **__: '[0,"a/B","call","a/C","d","()V"]')
    tools = SimpleNamespace(java=None, classes=shaded, asm=())
    ((used,),) = bytecode.read_references(tools, [shaded], ["a"])
    assert used == bytecode.Reference("a/B", "call", "a/C", "d", "()V")
    assert held_by([shaded], {"old text"}) == {"old text"}
    assert java_needed([shaded]) == {"a node": 11}


def test_a_library_that_would_fill_memory_or_take_for_ever_is_refused(shaded, monkeypatch):
    monkeypatch.setattr(archives, "_MOST_OF_ENTRY", 15)
    with pytest.raises(HarnessError, match=r"'kafka/Kafka\.class' unpacks to 16 bytes"):
        [*contents(shaded, is_class)]
    monkeypatch.setattr(archives, "_OF_LIBRARIES", archives._Limits(10**6, 24))
    with pytest.raises(HarnessError, match="it unpacks to 25 bytes"):
        open_library(shaded)


def test_an_entry_that_is_larger_than_its_list_says_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.jar", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeroes", bytes(50 * 2**20))
    with open_archive(tmp_path / "bomb.jar") as archive:
        archive.getinfo("zeroes").file_size = 10
        tracemalloc.start()
        try:
            with pytest.raises(HarnessError, match="damaged at zeroes"):
                read_entry(archive, "zeroes")
            assert tracemalloc.get_traced_memory()[1] < 2**20
        finally:
            tracemalloc.stop()


def test_an_entry_that_is_empty_by_its_list_and_has_content_is_damaged(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.jar", "w") as archive:
        archive.writestr("a", b"12")
    with open_archive(tmp_path / "a.jar") as archive:
        archive.getinfo("a").file_size = 0
        with pytest.raises(HarnessError, match="damaged at a"):
            read_entry(archive, "a")


def jar_of(path: Path, **entries: str) -> bytes:
    with zipfile.ZipFile(path, "w") as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return path.read_bytes()


def test_a_jar_in_which_two_readers_may_find_two_lists_of_entries_is_refused(tmp_path: Path) -> None:
    """Java's reader goes back to an earlier end where the last one does not fit; Python's takes the last."""
    path = tmp_path / "kafka-raft.jar"
    whole = jar_of(path, one="1")
    open_archive(path).close()
    mark = whole.rindex(b"PK\x05\x06")
    for other in (
        whole + b"more",
        b"before" + whole,
        whole + whole[mark:],
        whole[: mark + 16] + struct.pack("<L", 1) + whole[mark + 20 :],
        whole[:-2] + b"\x07\x00",
    ):
        path.write_bytes(other)
        with pytest.raises(HarnessError, match=r"is refused: its list of entries|is not a jar"):
            open_archive(path)


def test_a_jar_may_have_a_comment(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.jar", "w") as made:
        made.writestr("x", "y")
        made.comment = b"made on a Sunday"
    open_archive(tmp_path / "a.jar").close()
