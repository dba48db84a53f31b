"""JUnit's XML as a JVM with a foreign jar may write it: read under limits, and refused when odd."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.proof.junit import junit_tests
from harness.proof.junit.junit_tests import BadReport, JUnitTest, Status, parse_report, read_report

ID = "unique-id: [engine:junit-jupiter]/[class:a.BTest]/"


def report(*inside: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><testsuite name="x">{"".join(inside)}</testsuite>'.encode()


def xml_case(name: str, inside: str = "", method: str = "") -> str:
    text = f"<system-out><![CDATA[\n{ID}[{method}]/[test-template-invocation:#1]\n]]></system-out>" if method else ""
    return f'<testcase name="{name}" classname="a.BTest" time="0.5">{inside}{text}</testcase>'


def parsed(*inside: str) -> tuple[JUnitTest, ...]:
    return parse_report(report(*inside), "junit-jupiter")


def test_a_test_without_anything_inside_has_passed():
    assert parsed(xml_case("fetches()")) == (
        JUnitTest("junit-jupiter", "a.BTest", "fetches()", "", Status.PASSED, seconds=0.5),
    )


def test_failures_and_errors_keep_their_message_and_trace():
    failure = '<failure message="expected 1" type="E"><![CDATA[E: expected 1\n\tat a.B]]></failure>'
    error = '<error type="java.lang.NoSuchMethodError"><![CDATA[at c.D]]></error>'
    first, second = parsed(xml_case("one", failure), xml_case("two", error))
    assert (first.status, first.message, first.trace) == (Status.FAILED, "expected 1", "E: expected 1\n\tat a.B")
    assert (second.status, second.message, second.trace) == (Status.FAILED, "java.lang.NoSuchMethodError", "at c.D")


def test_a_skipped_test_has_not_passed():
    assert parsed(xml_case("one", "<skipped><![CDATA[a reason]]></skipped>"))[0].status is Status.SKIPPED


@pytest.mark.parametrize("kind", ["method", "test-template", "property"])
def test_the_method_that_selects_a_test_comes_from_its_unique_id(kind):
    assert parsed(xml_case("one", method=f"{kind}:one(int, boolean)"))[0].method == "one(int, boolean)"


def test_the_engine_is_reported_by_the_files_name(tmp_path):
    (tmp_path / "TEST-jqwik.xml").write_bytes(report(xml_case("one")))
    assert read_report(tmp_path / "TEST-jqwik.xml")[0].engine == "jqwik"


def test_a_test_that_calls_itself_otherwise_than_by_its_name_keeps_both():
    def named(display):
        return f"<system-out><![CDATA[\n{ID}[method:one()]\ndisplay-name: {display}\n]]></system-out>"

    assert parsed(xml_case("one()", named("[2] version=15")))[0].display == "[2] version=15"
    assert parsed(xml_case("one()", named("one()")))[0].display == ""


def test_control_characters_and_endless_texts_are_shown_as_escapes_and_cut():
    failure = f'<failure message="{"m" * 9000}">\u202e{"t" * 50_000}</failure>'
    (case,) = parsed(xml_case("one\u200b", failure))
    assert case.name == "one\\u200b"
    assert len(case.message) < 600
    assert case.trace.startswith("\\u202e")
    assert len(case.trace) < 9000


def test_a_document_type_is_refused_before_any_entity_expands():
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite>&b;</testsuite>'
    with pytest.raises(BadReport, match="document type"):
        parse_report(bomb, "jqwik")


@pytest.mark.parametrize("content", [b"", b"<testsuite>", b"\xff\xfe\x00", report(xml_case("one"))[:-20]])
def test_xml_that_is_cut_or_none_is_refused(content):
    with pytest.raises(BadReport, match="XML"):
        parse_report(content, "jqwik")


def test_a_report_of_too_many_bytes_or_tests_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "TEST-jqwik.xml"
    path.write_bytes(report(xml_case("one"), xml_case("two")))
    monkeypatch.setattr(junit_tests, "_MOST_CASES", 1)
    with pytest.raises(BadReport, match="more than 1 tests"):
        read_report(path)
    monkeypatch.setattr(junit_tests, "_MOST_BYTES", 10)
    with pytest.raises(BadReport, match="bytes"):
        read_report(path)


def test_a_time_that_is_no_number_is_refused():
    with pytest.raises(BadReport, match="odd"):
        parse_report(report('<testcase name="a" classname="b" time="soon"/>'), "jqwik")


@given(st.binary(max_size=200), st.integers(0, 300), st.integers(0, 300))
def test_damaged_reports_are_read_or_refused_and_nothing_else(noise, start, end):
    whole = report(xml_case("one", '<failure message="m">trace</failure>', "method:one()"))
    try:
        found = parse_report(whole[:start] + noise + whole[end:], "jqwik")
    except BadReport:
        return
    assert all(isinstance(case, JUnitTest) for case in found)


@pytest.mark.parametrize("time", ["NaN", "1e999", "-inf"])
def test_a_time_without_an_end_is_refused(time):
    with pytest.raises(BadReport, match="odd"):
        parse_report(report(f'<testcase name="a" classname="b" time="{time}"/>'), "jqwik")
