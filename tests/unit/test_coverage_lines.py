"""Changed lines and lines that ran: from a series, from class files, from JaCoCo's report, and put together."""

import difflib
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from examples import costly
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.building.jars import write_jar
from harness.coverage.changes import added_lines, classes_from, code_of_methods, lines_of_series, methods_with
from harness.coverage.jacoco import parse_report
from harness.coverage.linetable import ClassLines, class_lines
from harness.coverage.reached import gap_in, in_tree, reached_lines, reached_methods, read_texts
from harness.kafka.patching import Patch, Series
from harness.model.arms import Role
from harness.model.proof import ChangedMethod, ReachedLine, ReachedMethod
from harness.model.runs import Outcome, RunResult

FILE = "raft/src/main/java/a/One.java"
TEST_FILE = "raft/src/test/java/a/OneTest.java"


def diff(before: list[str], after: list[str], file: str = FILE, context: int = 3) -> str:
    lines = difflib.unified_diff(before, after, f"a/{file}", f"b/{file}", n=context, lineterm="")
    return "\n".join(lines) + "\n"


def series_of(folder: Path, *diffs: str) -> Series:
    folder.mkdir(parents=True, exist_ok=True)
    patches = []
    for number, text in enumerate(diffs):
        path = folder / f"{number}.patch"
        path.write_text(text)
        patches.append(Patch(path.name, path, {}))
    return Series("s", "3.9.1", tuple(patches))


def kept(folder: Path, lines: list[str]) -> Path:
    (folder / FILE).parent.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text("".join(f"{line}\n" for line in lines))
    return folder


# Every line is a text of its own, so that there is one answer only to what was added.
@st.composite
def edited(draw, before: list[str], mark: str) -> list[str]:
    after: list[str] = []
    for number, line in enumerate(before):
        kind = draw(st.sampled_from(["keep"] * 6 + ["drop", "replace", "insert"]))
        after += {"keep": [line], "drop": [], "replace": [f"{mark}{number}"], "insert": [f"{mark}{number}", line]}[kind]
    return after


ORIGINAL = [f"line {number}" for number in range(40)]


@given(edited(ORIGINAL, "new "))
def test_the_hunks_of_a_diff_without_context_name_the_lines_that_were_added(after):
    expected = [number for number, line in enumerate(after, 1) if line not in ORIGINAL]
    assert list(added_lines(diff(ORIGINAL, after, context=0))) == expected


def test_a_line_that_looks_like_a_hunk_is_none():
    assert list(added_lines("@@ -3,0 +4 @@ void f() {\n+@@ -1 +1,9 @@\n-@@ -1 +1,9 @@\n")) == [4]


@given(st.data())
@costly
def test_the_lines_of_a_series_are_those_that_no_line_was_before_whatever_later_patches_shift(tmp_path_factory, data):
    first = data.draw(edited(ORIGINAL, "first "))
    second = data.draw(edited(first, "second "))
    folder = tmp_path_factory.mktemp("series")
    series = series_of(folder / "s", *(diff(a, b) for a, b in ((ORIGINAL, first), (first, second)) if a != b))
    expected = frozenset(number for number, line in enumerate(second, 1) if line not in ORIGINAL)
    found = lines_of_series(kept(folder / "t", second), series)
    assert found.get(FILE, frozenset()) == expected


def test_a_series_that_git_applied_with_an_offset_is_found_where_it_is(tmp_path):
    after = [*ORIGINAL[:20], "added", *ORIGINAL[20:]]
    series = series_of(tmp_path / "s", diff(ORIGINAL, after))
    assert lines_of_series(kept(tmp_path / "t", ["above"] * 30 + after), series) == {FILE: frozenset({51})}


def test_what_a_series_changes_beyond_the_modules_code_needs_not_be_there(tmp_path):
    after = ["added", *ORIGINAL]
    series = series_of(tmp_path / "s", diff(ORIGINAL, after) + diff(["a"], ["b"], TEST_FILE))
    assert lines_of_series(kept(tmp_path / "t", after), series) == {FILE: frozenset({1})}


def test_a_series_that_is_not_in_the_sources_is_an_error_in_gits_own_words(tmp_path):
    series = series_of(tmp_path / "s", diff(ORIGINAL, ["added", *ORIGINAL]))
    with pytest.raises(HarnessError, match="git failed"):
        lines_of_series(kept(tmp_path / "t", ORIGINAL), series)


def test_kept_sources_are_left_as_they_are(tmp_path):
    sources = kept(tmp_path / "t", ["added", *ORIGINAL])
    lines_of_series(sources, series_of(tmp_path / "s", diff(ORIGINAL, ["added", *ORIGINAL])))
    assert [path for path in sources.rglob("*") if path.is_file()] == [sources / FILE]
    assert (sources / FILE).read_text().startswith("added\n")


def class_file(source: str, methods: dict[str, list[int]]) -> bytes:
    """A class file of methods `name` without parameters, each with these lines in its table."""
    pool = [
        b"\x01" + struct.pack(">H", len(text)) + text.encode()
        for text in ("Code", "LineNumberTable", "SourceFile", source, "()V", *methods)
    ]
    pool.append(b"\x05" + bytes(8))  # a long, which takes two places
    code, table, file, name, descriptor = range(1, 6)
    out = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 52, len(pool) + 2) + b"".join(pool)
    out += struct.pack(">HHHHHH", 1, 0, 0, 1, 7, 0)  # one interface, no field
    out += struct.pack(">H", len(methods))
    for place, lines in enumerate(methods.values(), descriptor + 1):
        numbers = struct.pack(">H", len(lines)) + b"".join(struct.pack(">HH", 0, line) for line in lines)
        inner = struct.pack(">HI", table, len(numbers)) + numbers
        body = struct.pack(">HHI", 1, 1, 1) + b"\xb1" + struct.pack(">HHHHHH", 1, 0, 1, 0, 0, 1) + inner
        out += struct.pack(">HHHH", 1, place, descriptor, 1) + struct.pack(">HI", code, len(body)) + body
    return out + struct.pack(">HHIH", 1, file, 2, name)


ONE = class_file("One.java", {"f": [3, 4, 3], "g": [9]})


def test_a_class_file_shows_its_source_and_the_lines_of_each_method():
    expected = {("f", "()V"): frozenset({3, 4}), ("g", "()V"): frozenset({9})}
    assert class_lines(ONE) == ClassLines("One.java", expected)


@given(st.integers(0, len(ONE) - 1))
def test_a_class_file_that_is_cut_short_is_damaged(length):
    with pytest.raises(HarnessError, match="damaged"):
        class_lines(ONE[:length])


@given(st.binary(max_size=300))
def test_bytes_that_are_no_class_file_are_an_error_or_no_lines(content):
    with suppress(HarnessError):
        class_lines(content)


def test_the_lines_of_changed_methods_are_those_of_their_class_files(tmp_path):
    write_jar({"a/One.class": ONE, "a/One$Two.class": ONE, "a/Other.class": ONE}, tmp_path / "x.jar")
    changed = [ChangedMethod("a/One", "f", "()V"), ChangedMethod("a/One$Two", "g", "()V")]
    found = code_of_methods(tmp_path / "x.jar", changed)
    assert found.lines == {"a/One.java": frozenset({3, 4, 9})}
    assert found.methods == {("a/One", "f", "()V"), ("a/One$Two", "g", "()V")}
    assert found.classes == {"a/One"}


def test_changed_methods_of_a_class_that_the_jar_has_not_are_an_error(tmp_path):
    write_jar({"a/One.class": ONE}, tmp_path / "x.jar")
    with pytest.raises(HarnessError, match=r"a/Gone\.class"):
        code_of_methods(tmp_path / "x.jar", [ChangedMethod("a/Gone", "f", "()V")])


def test_a_source_file_may_hold_several_classes_and_nested_ones_count_as_the_class_around_them(tmp_path):
    entries = {
        "a/One.class": ONE,
        "a/One$Nested.class": ONE,
        "a/Second.class": ONE,
        "a/Other.class": class_file("Other.java", {}),
        "b/One.class": ONE,
    }
    write_jar(entries, tmp_path / "x.jar")
    assert classes_from(tmp_path / "x.jar", [FILE]) == ("a/One", "a/Second")
    assert classes_from(tmp_path / "x.jar", ["a/Other.java"]) == ("a/Other",)


DOCTYPE = '<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">'
REPORT = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{DOCTYPE}<report name="x">
<sessioninfo id="node-3" start="1" dump="2"/><package name="a"><class name="a/One" sourcefilename="One.java">
<method name="f" desc="()V" line="3"><counter type="LINE" missed="1" covered="2"/></method></class>
<sourcefile name="One.java"><line nr="3" mi="0" ci="4" mb="0" cb="0"/><line nr="4" mi="2" ci="1" mb="1" cb="1"/>
<line nr="9" mi="3" ci="0" mb="0" cb="0"/><counter type="LINE" missed="1" covered="2"/></sourcefile></package>
<package name=""><sourcefile name="Top.java"><line nr="1" mi="1" ci="0" mb="0" cb="0"/></sourcefile></package>
</report>"""
HITS = {"a/One.java": {3: True, 4: True, 9: False}, "Top.java": {1: False}}


def test_a_line_ran_when_any_instruction_of_it_did():
    assert parse_report(REPORT.encode()).lines == HITS


def test_a_method_was_entered_when_anything_of_it_is_covered_whatever_its_class_counts():
    methods = {"covered": 'type="INSTRUCTION" missed="1" covered="2"', "not": 'type="METHOD" missed="1" covered="0"'}
    of_class = "".join(
        f'<method name="{name}" desc="()V"><counter type="METHOD" missed="1" covered="0"/><counter {counter}/></method>'
        for name, counter in methods.items()
    )
    report = f"""{DOCTYPE}<report name="x"><package name="a"><class name="a/One$Two">{of_class}
    <counter type="METHOD" missed="1" covered="1"/></class></package></report>"""
    assert parse_report(report.encode()).methods == {
        ("a/One$Two", "covered", "()V"): True,
        ("a/One$Two", "not", "()V"): False,
    }


def test_a_dtd_is_not_fetched_wherever_it_is_said_to_be(tmp_path):
    (tmp_path / "evil.dtd").write_text("<!this is no DTD")
    named = REPORT.replace('"report.dtd"', f'"file://{tmp_path}/evil.dtd"').replace(' standalone="yes"', "")
    assert parse_report(named.encode()).lines == HITS


@pytest.mark.parametrize(
    "declared",
    ['<!ENTITY a "b">', '<!ENTITY a SYSTEM "file:///etc/hostname">', '<!ENTITY % a "b">'],
    ids=["internal", "external", "parameter"],
)
def test_a_report_that_declares_entities_is_refused(declared):
    with pytest.raises(HarnessError, match="declares the entity a"):
        parse_report(REPORT.replace('"report.dtd">', f'"report.dtd" [{declared}]>').encode())


@pytest.mark.parametrize(
    "content", [b"", b"no xml", b"<report>", b'<report><line nr="x" ci="1"/></report>', b"<report><line/></report>"]
)
def test_a_report_that_cannot_be_read_is_an_error_in_a_sentence(content):
    with pytest.raises(HarnessError, match="JaCoCo could not say which lines were run: its report cannot be read"):
        parse_report(content)


def test_changed_lines_with_instructions_are_reported_with_the_scenarios_that_ran_them():
    changed = {FILE: frozenset({9, 3, 5}), "raft/src/main/java/a/Comment.java": frozenset({1})}
    hits = {"turn2": HITS, "new-mechanism": {"a/One.java": {3: True, 4: False, 9: False}}}
    texts = {FILE: ["", "", "\tif (x) {", "", "", ""]}
    assert reached_lines(changed, hits, texts) == (
        ReachedLine(FILE, 3, "if (x) {", ("new-mechanism", "turn2")),
        ReachedLine(FILE, 9, "", ()),
    )


def test_changed_methods_are_those_whose_lines_changed_in_nested_classes_too(tmp_path):
    write_jar({"a/One.class": ONE, "a/One$Two.class": ONE, "a/Other.class": ONE}, tmp_path / "x.jar")
    found = methods_with(tmp_path / "x.jar", {FILE: frozenset({4}), "b/One.java": frozenset({9})})
    assert found == {("a/One", "f", "()V"), ("a/One$Two", "f", "()V"), ("a/Other", "f", "()V")}
    assert methods_with(tmp_path / "x.jar", {FILE: frozenset({5})}) == frozenset()


def test_methods_are_reported_with_the_scenarios_that_entered_them_and_bridges_are_not():
    f, g, bridge = (("a/One", name, "()V") for name in ("f", "g", "bridge"))
    hits = {"turn2": {f: True, g: False}, "turn1": {f: True, g: False}}
    assert reached_methods([g, f, bridge], hits) == (
        ReachedMethod(*f, ("turn1", "turn2")),
        ReachedMethod(*g, ()),
    )


@pytest.mark.parametrize(
    ("method", "label"),
    [
        (("org/apache/kafka/raft/KafkaRaftClient", "poll"), "KafkaRaftClient.poll"),
        (("a/One$Builder", "<init>"), "the constructor of One.Builder"),
        (("One", "<clinit>"), "the static initialiser of One"),
    ],
)
def test_a_method_is_named_as_people_write_it(method, label):
    assert ReachedMethod(*method, "()V", ()).label == label


def test_without_sources_paths_begin_with_the_package_and_lines_have_no_text():
    assert reached_lines({"a/One.java": frozenset({3})}, {"turn2": HITS}, {}) == (
        ReachedLine("a/One.java", 3, "", ("turn2",)),
    )


def test_lines_found_in_class_files_get_the_paths_of_the_sources_that_are_there(tmp_path):
    kept(tmp_path, ["x"])
    changed = {"a/One.java": frozenset({1}), "a/Two.java": frozenset({2})}
    assert in_tree(changed, tmp_path) == {FILE: frozenset({1}), "a/Two.java": frozenset({2})}


def test_texts_are_split_as_java_counts_lines(tmp_path):
    kept(tmp_path, [])
    (tmp_path / FILE).write_bytes(b"one\r\ntwo\x0ctwo\nthr\xffee")
    assert read_texts(tmp_path, [FILE, "a/Gone.java"]) == {FILE: ("one", "two\x0ctwo", "thr\ufffdee")}


def result(scenario: str, outcome: Outcome, expectation: str = "", unasked: tuple[str, ...] = ()) -> RunResult:
    return RunResult(scenario, "patched-on", Role.ON, 1, outcome, expectation, unasked=unasked)


def test_runs_that_came_to_their_end_leave_no_gap():
    results = [
        result("a", Outcome.PASSED),
        result("b", Outcome.FAILED, "observer_recovers"),
        result("c", Outcome.INCONCLUSIVE, "host_not_starved"),
    ]
    assert gap_in(results, []) == ""


def test_runs_that_were_cut_short_or_gave_no_data_are_named():
    results = [
        result("a", Outcome.FAILED, "node_alive"),
        result("b", Outcome.BROKEN),
        result("c", Outcome.INCONCLUSIVE, "host_not_starved", ("observer_recovers",)),
    ]
    assert gap_in(results, ["b"]) == (
        "b gave no execution data; a ended FAILED(node_alive); c ended INCONCLUSIVE(host_not_starved): "
        "what else it would have reached is not known."
    )
