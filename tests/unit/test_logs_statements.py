"""A message is traced to the statement of the sources that wrote it, or to none."""

import gzip
import time

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.logs.read.event_counts import COUNTS, WHOLE_LOG, Reading
from harness.logs.read.extraction import source_classes, statements
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.library import Origins, formatted, library, named_version, overlaid
from harness.logs.read.statements import GAP, Library, SourceClass, Statement, Statements, written

JAVA = """
package a;
class B {
    private static final String GONE = "It is gone";
    void f(String given) {
        log.info("Node {} disconnected.", id);
        log.warn("Took " + ms + " ms at most {}", limit, error);
        this.logger.error(String.format("%d of %5.2f%% failed%n", n, share));
        log.debug(GONE);
        String later = "said \\"later\\" in " + place;
        log.trace(later);
        log.info(ready ? "up" : "down: {}", why);
        log.info(given);
        service.info("no log");
        log.info("one" +
            " more");
        log.error("Failed", new RuntimeException("not this"));
    }
}
"""
SCALA = '''
class C extends Logging {
  def f() = {
    info(s"Broker $id at ${node.endpoint("x")} is up")
    stateChangeLogger.warn("Old " + s"epoch $epoch")
    error(s"""Two
             |lines of $x""".stripMargin, e)
    debug { "in braces" }
    fatal("%s died".format(name))
    trace(f"$part%2.1f of it")
    val text = s"set to $x"
    info(text)
    println("not a log")
  }
}
'''


def read(path: str, source: str) -> list[tuple[int, str, str]]:
    return [(each.line, each.level, each.text) for each in statements({path: source.encode()})]


def test_java_statements_are_read_with_their_gaps():
    assert read("a/B.java", JAVA) == [
        (6, "INFO", "Node {} disconnected."),
        (7, "WARN", "Took {} ms at most {}"),
        (8, "ERROR", "{} of {}% failed\n"),
        (9, "DEBUG", "It is gone"),
        (11, "TRACE", 'said "later" in {}'),
        (12, "INFO", "up"),
        (12, "INFO", "down: {}"),
        (15, "INFO", "one more"),
        (17, "ERROR", "Failed"),
    ]


def test_scala_statements_are_read_with_their_interpolations():
    assert read("a/C.scala", SCALA) == [
        (4, "INFO", "Broker {} at {} is up"),
        (5, "WARN", "Old epoch {}"),
        (6, "ERROR", "Two\nlines of {}"),
        (8, "DEBUG", "in braces"),
        (9, "FATAL", "{} died"),
        (10, "TRACE", "{} of it"),
        (12, "INFO", "set to {}"),
    ]


@given(st.binary(max_size=200), st.sampled_from([".java", ".scala"]))
def test_damaged_sources_are_read_as_far_as_they_can_be(content, kind):
    assert isinstance(statements({f"X{kind}": content}), list)


parts = st.lists(st.text("ab {}.", max_size=4), min_size=1, max_size=5).map(tuple)
values = st.lists(st.text("ab 1{}.", max_size=4), min_size=4, max_size=4)


@given(parts, values)
def test_a_statement_fits_whatever_it_writes(parts, values):
    message = parts[0] + "".join(value + part for value, part in zip(values, parts[1:], strict=False))
    assert Statement("a/B.java", 1, "INFO", parts).fits(message)


@given(parts, st.text("ab {}.1", max_size=12))
def test_a_statement_that_fits_can_have_written_the_message(parts, message):
    fits = [message] if message.startswith(parts[0]) else []
    reachable = {len(parts[0])} if fits else set()
    for part in parts[1:]:
        reachable = {
            end
            for at in reachable
            for start in range(at, len(message) + 1)
            if message.startswith(part, start)
            for end in [start + len(part)]
        }
    assert (len(message) in reachable) == Statement("a/B.java", 1, "INFO", parts).fits(message)


def test_an_endless_message_is_compared_in_a_moment():
    statement = Statement("a/B.java", 1, "INFO", ("", *["ab"] * 40, "c"))
    begun = time.process_time()
    assert not statement.fits("ab" * 30_000)
    assert time.process_time() - begun < 0.5


FOUND = Statements(
    Library(
        (
            Statement("a/B.java", 3, "INFO", ("Node ", " disconnected."), "B"),
            Statement("a/B.java", 4, "INFO", ("Node ", " disconnected, again."), "B"),
            Statement("a/B.java", 5, "WARN", ("Node ", " disconnected."), "B"),
            Statement("a/Base.java", 6, "INFO", ("Shut down after ", ""), "Base"),
            Statement("a/Base.java", 7, "INFO", ("Stopped",), "Base"),
            Statement("a/Odd.java", 8, "INFO", ("", " is ", ""), "Odd"),
            Statement("a/Twin.java", 9, "INFO", ("Node 1 disconnected.",), "Twin"),
            Statement("a/Unrelated.java", 2, "INFO", ("Stopped",), "Unrelated"),
        ),
        (
            SourceClass("a.B", "a/B.java", ("Object",)),
            SourceClass("a.Odd", "a/Odd.java", ()),
            SourceClass("a.Base", "a/Base.java", ("Derived",)),
            SourceClass("a.Derived", "a/Derived.scala", ("Middle",)),
            SourceClass("b.Middle", "b/Middle.scala", ("Base",)),
        ),
    )
)


@pytest.mark.parametrize(
    ("level", "logger", "message", "place"),
    [
        ("INFO", "a.B", "Node 1 disconnected.", "a/B.java:3"),
        ("INFO", "a.B$Inner", "[Raft id=1] Node 1 disconnected.", "a/B.java:3"),
        ("INFO", "a.B", "[One] [Two]: Node 1 disconnected, again.", "a/B.java:4"),
        ("WARN", "a.B", "Node 1 disconnected.", "a/B.java:5"),
        ("INFO", "a.Derived", "Shut down after 3 s", "a/Base.java:6"),
        ("INFO", "a.B$Derived", "[thread-1]: Stopped", "a/Base.java:7"),
        ("INFO", "c.Foreign", "[thread-1], Stopped", "a/Base.java:7"),
        ("INFO", "a.Odd", "x is y", "a/Odd.java:8"),
    ],
)
def test_a_message_finds_its_statement_by_class_level_and_text(level, logger, message, place):
    assert FOUND.of(level, logger, message).place == place


@pytest.mark.parametrize(
    ("level", "logger", "message"),
    [
        ("ERROR", "a.B", "Node 1 disconnected."),
        ("INFO", "a.Other", "x is y"),
        ("INFO", "a.B", "Nodes 1 disconnected."),
        ("INFO", "a.B", ""),
    ],
)
def test_a_message_that_no_statement_writes_has_none(level, logger, message):
    assert FOUND.of(level, logger, message) is None


def test_the_shipped_library_knows_who_follows_the_leader():
    found = Statements(library("3.9.1"))
    text = "[RaftManager id=3] Connection to node 0 (/10.0.0.1:1) could not be established. Node may not be available."
    assert found.of("WARN", "org.apache.kafka.clients.NetworkClient", text).file.endswith("NetworkClient.java")
    started = found.of("INFO", "kafka.server.BrokerServer", "[BrokerServer id=1] Transition from STARTING to STARTED")
    assert started.file == "kafka/server/BrokerServer.scala"


def test_an_unknown_version_has_no_statements_and_a_damaged_library_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.logs.read.library.user_data_root", lambda: tmp_path)
    assert library("0.0.1") == Library()
    (tmp_path / "statements").mkdir()
    (tmp_path / "statements" / "0.0.1.json.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(HarnessError, match="not a library"):
        library("0.0.1")


def test_a_library_is_read_back_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.logs.read.library.user_data_root", lambda: tmp_path)
    sources = {"a/B.java": JAVA.encode(), "a/C.scala": SCALA.encode()}
    made = Library(tuple(statements(sources)), tuple(source_classes(sources)))
    assert made.classes == (SourceClass("a.B", "a/B.java", ()), SourceClass("a.C", "a/C.scala", ("Logging",)))
    (tmp_path / "statements").mkdir()
    content = gzip.compress(formatted("0.0.1", [], made).encode(), mtime=0)
    (tmp_path / "statements" / "0.0.1.json.gz").write_bytes(content)
    assert library("0.0.1") == made


def test_a_patched_file_speaks_for_itself(tmp_path):
    own = tmp_path / "raft/src/main/java/a/B.java"
    own.parent.mkdir(parents=True)
    own.write_text('class B { void f() { log.info("patched"); } }')
    released = Library(
        (Statement("a/B.java", 9, "INFO", ("released",), "B"), Statement("a/C.java", 1, "INFO", ("kept",)))
    )
    assert [each.text for each in overlaid(released, tmp_path).statements] == ["kept", "patched"]
    assert overlaid(released, tmp_path / "absent") == released


def test_counts_are_reported_where_they_come_from_items_are_not():
    excerpt = "[2026-11-21 14:28:58,949] INFO Node 7 disconnected. (a.B)"
    row = {"level": "INFO", "logger": "a.B", "template": "Node <n> disconnected.", "excerpt": excerpt}
    counts = pl.DataFrame([{**row, "part": "event"}, {**row, "part": "item"}], schema=COUNTS)
    origins = Origins(Library((Statement("a/B.java", 3, "INFO", ("Node ", " disconnected."), "B"),)))
    shown = origins.with_origins(counts, Reading(compile_layout(KAFKA_DEFAULT), (WHOLE_LOG,)))
    assert shown["statement"].to_list() == ["a/B.java:3", ""]
    assert shown["wording"].to_list() == ["Node {} disconnected.", ""]
    assert shown["values"].to_list() == [["<n>"], []]


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("from A to B", ("A", "B")),
        ("[Raft id=1] from A to B", ("A", "B")),
        ("from  to B", ("", "B")),
        ("from A to B to C", ("A", "B to C")),
        ("off A to B", ()),
    ],
)
def test_a_statements_values_are_what_stands_in_its_gaps(message, values):
    assert written(Statement("a/B.java", 1, "INFO", ("from ", " to ", "")), message) == values


def test_the_version_is_the_one_that_the_log_names():
    row = {"logger": "org.apache.kafka.common.utils.AppInfoParser", "excerpt": "[…] INFO Kafka version: 3.9.1 (…)"}
    assert named_version([pl.DataFrame(schema=COUNTS), pl.DataFrame([row], schema=COUNTS)]) == "3.9.1"
    assert named_version([]) == ""


def test_no_source_holds_the_character_that_stands_for_a_gap():
    assert not [each for each in library("3.9.1").statements if GAP in each.text]
