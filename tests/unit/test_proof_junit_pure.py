"""What runs where, what is related to a change, and what the results say of a jar."""

import struct
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.kafka.release_lines import line_of
from harness.model.proof import DID_NOT_RUN, FailedTest, TestClass, TestSuite
from harness.proof.junit.excuses import excuse_by_claims, excuse_by_release
from harness.proof.junit.fork_plan import JUPITER, PROPERTIES, included, only_classes, units_of
from harness.proof.junit.forks import Jvm
from harness.proof.junit.junit_tests import JUnitTest, Status
from harness.proof.junit.related import changed_classes, changed_tests, outermost, referred, related_tests
from harness.proof.junit.test_outcomes import classes_of, failed_tests, gap_of, settle, unhappy, with_why
from harness.toolbox.java import JavaRuntime

SLOW = "canMakeProgressIfMajorityIsReachable"
UPSTREAM = TestSuite.UPSTREAM


def case(name, class_name="a.BTest", status=Status.PASSED, engine=JUPITER, method=None, **more):
    return JUnitTest(engine, class_name, name, f"{name}()" if method is None else method, status, **more)


def test_every_test_is_in_exactly_one_unit_and_slow_properties_come_first_each_alone():
    tests = [case("a"), case("b", "a.CTest"), case(SLOW, engine=PROPERTIES), case("quick", engine=PROPERTIES)]
    units = units_of(tests, {SLOW: 38})
    assert [unit.engine for unit in units] == [PROPERTIES, PROPERTIES, JUPITER]
    assert units[0].expected == (tests[2],)
    assert sorted(each.name for unit in units for each in unit.expected) == sorted(each.name for each in tests)


def test_invocations_of_one_method_are_selected_by_it_once():
    (unit,) = units_of([case(f"a(int)[{n}]", method="a(int)") for n in (1, 2)], {})
    assert unit.selectors == ("--select-method=a.BTest#a(int)",)


def test_a_method_whose_name_is_odd_or_unknown_takes_its_class_along():
    (unit,) = units_of([case("a", method=""), case("b", method="b()\n--config=x")], {})
    assert unit.selectors == ("--select-class=a.BTest",)


def test_many_jupiter_tests_are_shared_out_to_two_forks_and_a_class_stays_whole():
    tests = [case(f"t{n}", f"a.C{n % 5}Test") for n in range(120)]
    one, other = units_of(tests, {})
    assert sorted((*one.expected, *other.expected), key=lambda c: c.name) == sorted(tests, key=lambda c: c.name)
    assert {c.class_name for c in one.expected}.isdisjoint({c.class_name for c in other.expected})
    assert min(len(one.expected), len(other.expected)) >= 48


def test_nothing_to_run_makes_no_unit():
    assert units_of([], {}) == ()


def test_related_leaves_properties_and_other_classes_out_and_keeps_nested_ones():
    tests = [case("a"), case("b", "a.BTest$Inner"), case("c", "a.CTest"), case("d", engine=PROPERTIES)]
    assert only_classes(tests, {"a.BTest"}) == (tests[0], tests[1])


def test_tests_of_a_class_that_the_launcher_could_not_look_into_are_missing_for_what_it_said_of_that_class():
    output = (
        "SEVERE: Resolution of ClassSelector [className = 'a.BTest'] by [engine:junit-jupiter] failed\n"
        "java.lang.NoClassDefFoundError: a/Gone\n\tat java.base/java.lang.Class.getDeclaredMethods0(Native Method)\n"
    )
    seen = case("a", "a.CTest")
    missing, other = settle([case("a"), case("a", "a.DTest")], [], "exit 1", "last words")
    assert with_why([seen, missing, other], output) == (
        seen,
        replace(
            missing,
            message=f"{DID_NOT_RUN}no test is found in its class: java.lang.NoClassDefFoundError: a/Gone",
            trace="java.lang.NoClassDefFoundError: a/Gone",
        ),
        other,
    )


def test_what_was_expected_and_not_seen_is_missing_with_the_reason():
    seen, missed = settle([case("a"), case("b")], [case("a")], "exit 7", "last words")
    assert seen == case("a")
    assert missed == case("b", status=Status.MISSING, message="did not run: exit 7", trace="last words")


def test_what_was_seen_and_not_expected_counts_too():
    assert settle([], [case("a")], "") == (case("a"),)


@pytest.mark.parametrize("order", [(Status.FAILED, Status.PASSED), (Status.PASSED, Status.FAILED)])
def test_a_test_that_is_reported_twice_failed_if_either_did(order):
    (settled,) = settle([case("a")], [case("a", status=status) for status in order], "")
    assert settled.status is Status.FAILED


def test_a_class_counts_what_is_missing_among_its_failures_and_not_among_what_ran():
    cases = [
        case("a", seconds=0.25),
        case("b", status=Status.FAILED, seconds=0.5),
        case("c", status=Status.MISSING),
        case("d", status=Status.SKIPPED),
        case("e", "a.ATest"),
    ]
    assert classes_of(UPSTREAM, cases) == (
        TestClass(UPSTREAM, "a.ATest", 1, 0, 0, 0.0, ("e",)),
        TestClass(UPSTREAM, "a.BTest", 4, 2, 1, 0.75, ("a", "b")),
    )


def on_base(**statuses):
    return {("a.BTest", name): status for name, status in statuses.items()}


def test_a_failure_is_the_candidates_unless_base_fails_it_too():
    failed = [case(name, status=Status.FAILED, message="m", trace="t") for name in ("a", "b", "c")]
    shown = failed_tests(UPSTREAM, failed, on_base(a=Status.PASSED, b=Status.FAILED))
    assert shown[0] == FailedTest(UPSTREAM, "a.BTest", "a", "m", "t", False)
    assert [each.fails_on_base for each in shown] == [False, True, None]
    assert [each.blocks for each in shown] == [True, False, True]


@pytest.mark.parametrize("status", [Status.MISSING, Status.SKIPPED])
def test_a_base_that_gave_no_answer_excuses_nobody(status):
    (shown,) = failed_tests(UPSTREAM, [case("a", status=Status.FAILED)], on_base(a=status))
    assert shown.fails_on_base is None
    assert shown.blocks


def test_missing_tests_of_a_class_are_one_entry():
    missing = [case(name, status=Status.MISSING, message="gone") for name in ("a", "b")]
    (shown,) = failed_tests(UPSTREAM, missing, on_base(a=Status.FAILED, b=Status.PASSED))
    assert shown == FailedTest(UPSTREAM, "a.BTest", "2 tests, a among them,", "gone", "", False)


def test_a_single_missing_test_is_named():
    (shown,) = failed_tests(UPSTREAM, [case("a", status=Status.MISSING)], {})
    assert (shown.name, shown.fails_on_base) == ("a", None)


def test_what_passed_or_was_skipped_is_not_unhappy():
    cases = [case(status.name, status=status) for status in Status]
    assert {each.status for each in unhappy(cases)} == {Status.FAILED, Status.MISSING}


def test_skipped_tests_are_a_gap_that_names_their_classes():
    assert gap_of([case("a")]) == ""
    assert gap_of([case("a", status=Status.SKIPPED)]) == "1 tests were skipped by their own conditions: a.BTest"


def class_file(*names):
    """The head of a class file whose constant pool has a long, a string and these classes."""
    pool = struct.pack(">BQ", 5, 1) + struct.pack(">BH", 8, 4)
    index, count = 4, 4
    for name in names:
        text = name.encode()
        pool += struct.pack(">BH", 1, len(text)) + text + struct.pack(">BH", 7, index)
        index, count = index + 2, count + 2
    return struct.pack(">IHHH", 0xCAFEBABE, 0, 52, count) + pool


def jar(path, **classes):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in classes.items():
            archive.writestr(f"a/{name}.class", content)
    return path


def test_the_classes_that_a_class_file_names_are_read_from_its_constant_pool():
    content = class_file("a/B$Inner", "[La/C;", "[[I", "java/lang/Object")
    assert referred(content) == {"a.B", "a.C", "I", "java.lang.Object"}


def test_the_outermost_class_of_a_nested_one():
    assert outermost("a/B$Inner$1") == "a.B"


@pytest.mark.parametrize(
    "content", [b"", b"not a class file", class_file("a/B")[:-4], b"\xca\xfe\xba\xbe" + b"\xff" * 20]
)
def test_a_damaged_class_file_is_refused(content):
    with pytest.raises(ValueError, match=r"class file|damaged"):
        referred(content)


@given(st.binary(max_size=60), st.integers(0, 60))
def test_no_damage_to_a_class_file_does_more_than_refuse_it(noise, at):
    whole = class_file("a/B", "a/C")
    try:
        referred(whole[:at] + noise + whole[at + len(noise) :])
    except ValueError:
        return


def test_a_class_has_changed_when_its_bytes_or_those_of_a_nested_one_differ_or_only_one_jar_has_it(tmp_path):
    base = jar(tmp_path / "base.jar", Same=b"1", Other=b"1", **{"Outer$In": b"1"}, Gone=b"1")
    candidate = jar(tmp_path / "candidate.jar", Same=b"1", Other=b"2", **{"Outer$In": b"2"}, New=b"1")
    assert changed_classes(base, candidate) == {"a.Other", "a.Outer", "a.Gone", "a.New"}


def test_related_are_the_classes_that_name_a_changed_one_themselves_nested_or_through_support(tmp_path):
    tests = jar(
        tmp_path / "tests.jar",
        DirectTest=class_file("a/Changed"),
        NestedTest=class_file("a/Other"),
        **{"NestedTest$1": class_file("a/Changed$Part")},
        Context=class_file("a/Changed"),
        Builder=class_file("a/Context"),
        ThroughSupportTest=class_file("a/Builder"),
        HelpedByATestTest=class_file("a/DirectTest"),
        UnrelatedTest=class_file("a/Other"),
    )
    assert {name for name in related_tests(tests, {"a.Changed"}) if name.endswith("Test")} == {
        "a.DirectTest",
        "a.NestedTest",
        "a.ThroughSupportTest",
    }


def test_a_test_class_that_cannot_be_read_is_reported(tmp_path):
    with pytest.raises(HarnessError, match="a/BadTest of the tests cannot be read"):
        related_tests(jar(tmp_path / "tests.jar", BadTest=b"no"), {"a.Changed"})


RELEASE_ON_JAR = [case("a(int)[1]"), case("a(int)[2]"), case("b()"), case("c()", status=Status.SKIPPED)]


@pytest.mark.parametrize(
    ("name", "own", "excused"),
    [
        ("a(int)[1]", RELEASE_ON_JAR, True),
        ("a(boolean)[3]", RELEASE_ON_JAR, True),  # the same method with other parameters
        ("a(int)[1]", [case("a(int)[1]", status=Status.FAILED)], False),
        ("a(int)[1]", [case("a(int)[1]", status=Status.MISSING)], False),
        ("c()", RELEASE_ON_JAR, False),  # it skipped itself, which shows nothing
        ("gone()", RELEASE_ON_JAR, True),
        ("gone()", [*RELEASE_ON_JAR, case("d()", status=Status.FAILED)], False),
        ("gone()", [case("b()", "a.CTest")], False),
        ("gone()", [], False),
    ],
)
def test_another_releases_tests_excuse_what_that_release_has_changed(name, own, excused):
    failed = FailedTest(UPSTREAM, "a.BTest", name, "m", "t", False)
    (found,) = excuse_by_release([failed], "3.9.2", {"a.BTest"}, own)
    assert bool(found.excuse) is excused
    assert found.blocks is not excused


def test_another_releases_tests_excuse_no_test_of_the_series_no_dead_jvm_and_none_that_it_has_not_changed():
    own = [case("a()"), case("b()")]
    dead = failed_tests(
        UPSTREAM, [case(name, status=Status.MISSING, message="did not run: exit 3") for name in ("a()", "b()")], {}
    )
    for changed, failed in (
        ({"a.BTest"}, FailedTest(TestSuite.SERIES, "a.BTest", "a()", "m", "t", False)),
        ({"a.BTest"}, replace(dead[0], fails_on_base=False)),
        ({"a.BTest"}, FailedTest(UPSTREAM, "a.BTest", "a()", "did not run: exit 3", "t", False)),
        ({"a.CTest"}, FailedTest(UPSTREAM, "a.BTest", "a()", "m", "t", False)),
    ):
        assert excuse_by_release([failed], "3.9.2", changed, own) == (failed,)


def test_a_test_is_changed_by_its_own_bytes_or_by_those_of_the_support_that_it_stands_on(tmp_path):
    ours = {"NestedTest": class_file("a/Other"), "Context": class_file("a/Other"), "SameTest": class_file("a/Other")}
    classes = {**ours, "ThroughTest": class_file("a/Context"), "NestedTest$1": class_file("a/Other")}
    theirs = {**classes, "NestedTest$1": class_file("a/New"), "Context": class_file("a/New")}
    found = changed_tests(jar(tmp_path / "ours.jar", **classes), jar(tmp_path / "theirs.jar", **theirs))
    assert found == {"a.NestedTest", "a.Context", "a.ThroughTest"}


def test_a_failure_is_described_by_the_tests_own_words_and_its_line():
    trace = "E: x\n\tat org.junit.A(A.java:7)\n\tat a.BTest.lambda$1(BTest.java:41)\n\tat a.BTest.a(BTest.java:52)"
    (failed,) = failed_tests(
        UPSTREAM,
        [case("a(int)[2]", status=Status.FAILED, message="expected: <1> but was: <2>", trace=trace, display="[2] n=5")],
        {},
    )
    assert failed.behaviour == "test a.BTest.a(int)[2] (“[2] n=5”) fails: expected: <1> but was: <2>, at BTest.java:41"
    assert replace(failed, trace="", display="").behaviour == "test a.BTest.a(int)[2] fails: expected: <1> but was: <2>"


@pytest.mark.parametrize(
    ("engines", "is_quick"), [((JUPITER,), True), ((JUPITER, PROPERTIES), True), ((PROPERTIES,), False)]
)
def test_only_properties_run_for_long_enough_to_need_the_optimising_compiler(engines, is_quick, tmp_path):
    jvm = Jvm(JavaRuntime(tmp_path, "17"), (), {}, line_of("3.9.1").logging)
    command = jvm.command([included(engine) for engine in engines], tmp_path)
    assert ("-XX:TieredStopAtLevel=1" in command) is is_quick


def test_a_claims_file_excuses_a_test_that_changes_and_none_that_never_ran():
    failed = FailedTest(TestSuite.UPSTREAM, "a.KTest", "testX()", "expected 1", "at …", None)
    reasons = {"KTest#testX": "it counts from 1 now"}
    (excused,) = excuse_by_claims([failed], reasons)
    assert excused.excuse == "the claims file says that it changes: it counts from 1 now"
    (hung,) = excuse_by_claims([replace(failed, message=f"{DID_NOT_RUN}: its JVM ended")], reasons)
    assert hung.excuse == ""


def test_a_long_line_of_the_launcher_that_says_nothing_is_looked_through_once():
    """Whoever tries every place of it for each of its words comes to no end."""
    (missing,) = settle([case("a")], [], "exit 1", "last words")
    output = "Resolution of X [" + "'a.BTest'] by " * 60_000
    assert with_why([missing], output) == (missing,)
