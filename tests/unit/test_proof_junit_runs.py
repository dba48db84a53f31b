"""The tests on a jar from end to end, with a program in Java's place that acts out what a jar's code does."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from harness.base.errors import HarnessError
from harness.base.processes.background import Background
from harness.building.compiling import Compilation
from harness.kafka.release_lines import line_of
from harness.model.proof import TestScope, TestSuite
from harness.proof.junit import LaterRelease, OtherRelease, TestBench, forks, run_tests
from harness.toolbox.java import JavaRuntime

# Reads its part from the jar under test: how each test ends ("exit N", "hang", "flood", "garbage", "forget" act for
# the whole JVM), and which it has at all. Counting, it tells of every test and runs none.
JAVA = """
import json, os, re, sys, time, zipfile
argv = sys.argv[1:]
path = argv[argv.index("-cp") + 1].split(":")
jar = next(each for each in path if os.path.basename(each) in ("base.jar", "candidate.jar"))
tests = json.load(open(jar))
for each in path:
    if os.path.basename(each) == "kafka-raft-9.2-test.jar":
        tests = json.loads(zipfile.ZipFile(each).read("tests.json"))[os.path.basename(jar)]
reports = next(each.partition("=")[2] for each in argv if each.startswith("--reports-dir="))
root = next((each.partition("=")[2] for each in argv if each.startswith("--scan-classpath=")), "")
wanted = [each.partition("=")[2] for each in argv if each.startswith("--select-method=")]
failed, cases = 0, ""
for name, end in tests.items():
    class_name, method = name.split("#")
    of_root = ("Series" in class_name) == os.path.basename(root).startswith("series-")
    if not (of_root if root else name + "()" in wanted):
        continue
    print(f"x > {name} :: STARTED", flush=True)
    inside = ""
    if not root:
        if end.startswith("exit"):
            sys.exit(int(end.split()[1]))
        while end == "hang":
            open(jar + ".hangs", "w").close()
            time.sleep(1)
        while end == "flood":
            print("x" * 100000)
        marker = jar + "." + method + ".failed"
        if end == "fail-once" and not os.path.exists(marker):
            open(marker, "w").close()
            end = "fail"
        if end == "fail":
            failed, inside = 1, '<failure message="it is wrong">at a.B</failure>'
        if end == "skip":
            inside = "<skipped/>"
    print(f"x > {name} :: SUCCESSFUL", flush=True)
    if end == "forget" and not root:
        continue
    told = f"unique-id: [engine:junit-jupiter]/[class:{class_name}]/[method:{method}()]"
    inside += f"<system-out>{told}</system-out>"
    cases += f'<testcase name="{method}" classname="{class_name}" time="1">{inside}</testcase>'
    if end == "garbage" and not root:
        cases += "<<<"
os.makedirs(reports)
open(os.path.join(reports, "TEST-junit-jupiter.xml"), "w").write(f"<testsuite>{cases}</testsuite>")
sys.exit(next((int(end.split()[1]) for end in tests.values() if end.startswith("then-exit") and not root), failed))
"""
A, B = "k.ATest#a", "k.BTest#b"
SOUND = {A: "pass", B: "pass"}


LINE = line_of("3.9.1")


def make_test_jar(path, release, classes, tests=None):
    """Make a release's test jar: empty classes, whose bytes are the release's, and how its tests end, by jar."""
    with zipfile.ZipFile(path, "w") as made:
        for name in classes:
            made.writestr(f"{name.replace('.', '/')}.class", b"\xca\xfe\xba\xbe\0\0\0\0\0\1" + release)
        made.writestr("tests.json", json.dumps(tests or {}))
    return path


class Compiler:
    """A builder that makes empty classes, unless the jar on the class path is one that it refuses."""

    label = "compiler 1"
    note = ""

    def __init__(self, refuses: str = "none") -> None:
        self.refuses = refuses

    def compile(self, root, sources, class_path, out, target):
        out.mkdir(parents=True)
        for source in sources:
            (out / Path(source).with_suffix(".class").name).touch()
        refused = any(jar.name == self.refuses for jar in class_path)
        return Compilation(not refused, ("c",), "X.java:1: error: no such method")


@pytest.fixture
def bench(tmp_path):
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!{sys.executable} -IS\n{JAVA}")
    java.chmod(0o755)
    released = make_test_jar(tmp_path / "kafka-raft-9-test.jar", b"9", ["k.ATest", "k.BTest"])
    runtime = JavaRuntime(tmp_path / "java", "21")
    return TestBench(LINE, runtime, (released,), (), Compiler(), tmp_path / "cache", changed=frozenset())


@pytest.fixture
def prove(bench, tmp_path):
    def run(candidate, base=SOUND, scope=TestScope.ALL, progress=lambda done, total: None, **changes):
        jars = []
        for name, tests in (("candidate.jar", candidate), ("base.jar", base)):
            (tmp_path / name).write_text(json.dumps(tests))
            jars.append(tmp_path / name)
        changed = TestBench(**{name: getattr(bench, name) for name in bench.__slots__} | changes)
        return run_tests(changed, *jars, scope, tmp_path / "out", progress)

    return run


@pytest.fixture
def series(tmp_path):
    folder = tmp_path / "patches" / "k"
    folder.mkdir(parents=True)
    (folder / "SeriesTest.java").touch()
    (folder / "Context.java").touch()
    return folder.parent


def test_a_sound_jar_passes_every_test_and_leaves_reports(prove, tmp_path):
    proof = prove(SOUND)
    assert (proof.count, proof.failed, proof.gap) == (2, (), "")
    assert [(each.suite, each.name, each.tests, each.failures, each.seconds) for each in proof.classes] == [
        (TestSuite.UPSTREAM, "k.ATest", 1, 0, 1.0),
        (TestSuite.UPSTREAM, "k.BTest", 1, 0, 1.0),
    ]
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".xml"]


def test_progress_shows_how_many_of_all_have_ended(prove):
    on_progress = []
    prove(SOUND, progress=lambda done, total: on_progress.append((done, total)))
    assert on_progress[-1] == (2, 2)
    assert on_progress == sorted(on_progress)


def test_a_failure_that_base_does_not_have_blocks(prove):
    (failed,) = prove({A: "fail", B: "pass"}).failed
    assert (failed.class_name, failed.name, failed.message) == ("k.ATest", "a", "it is wrong")
    assert failed.trace == "at a.B"
    assert failed.fails_on_base is False
    assert failed.blocks


def test_a_failure_that_base_has_too_is_reported_and_does_not_block(prove):
    (failed,) = prove({A: "fail", B: "pass"}, base={A: "fail", B: "pass"}).failed
    assert failed.fails_on_base is True
    assert not failed.blocks


def test_only_what_failed_is_run_on_base(prove, tmp_path):
    prove({A: "fail", B: "pass"})
    (text,) = (tmp_path / "out").glob("base-*.xml")
    assert "k.ATest" in text.read_text()
    assert "k.BTest" not in text.read_text()


@pytest.mark.parametrize("code", [0, 1, 2, 134])
def test_a_jar_that_ends_the_jvm_fails_every_test_that_was_to_run_there(prove, code):
    proof = prove({A: f"exit {code}", B: "pass"})
    assert [each.class_name for each in proof.failed] == ["k.ATest", "k.BTest"]
    assert all(each.blocks and each.message.startswith("did not run: ") for each in proof.failed)
    assert f"ended with exit {code} while x > {A} ran" in proof.failed[0].message
    assert proof.count == 2
    assert sum(each.failures for each in proof.classes) == 2


@pytest.mark.parametrize(("code", "text"), [(1, "its report names nothing"), (134, "ended with exit 134")])
def test_a_jvm_that_ends_badly_after_a_report_of_passes_has_failed(prove, code, text):
    (failed,) = prove({A: "pass", B: f"then-exit {code}"}).failed
    assert (failed.name, failed.blocks) == ("launcher", True)
    assert text in failed.message


def test_a_test_that_is_in_no_report_has_failed(prove):
    (failed,) = prove({A: "forget", B: "pass"}).failed
    assert failed.class_name == "k.ATest"
    assert "ended with exit 0 without a word of it" in failed.message


def test_a_report_that_cannot_be_read_fails_its_tests(prove):
    proof = prove({A: "garbage", B: "pass"})
    assert len(proof.failed) == 2
    assert "report of the test JVM is refused: its XML is damaged" in proof.failed[0].message


def test_a_hanging_test_is_ended_and_named(prove, monkeypatch):
    monkeypatch.setattr(forks, "_STALL_SECONDS", 1)
    proof = prove({A: "hang", B: "pass"})
    assert f"no test ended within 1 s, and the test JVM was ended while x > {A} ran" in proof.failed[0].message


def test_tests_that_give_way_may_take_any_time(prove, monkeypatch, tmp_path):
    monkeypatch.setattr(forks, "_STALL_SECONDS", 0.2)
    work = Background()

    def end_what_hangs() -> None:
        waited((tmp_path / "candidate.jar.hangs").exists, 60)
        time.sleep(1)  # five times what is allowed to those that do not give way
        work.end()

    ending = threading.Thread(target=end_what_hangs)
    ending.start()
    with work.working(), pytest.raises(HarnessError, match="was ended"):
        prove({A: "hang", B: "pass"})
    ending.join()


def test_tests_that_are_equals_of_everybody_may_not(prove, monkeypatch):
    monkeypatch.setattr(forks, "_STALL_SECONDS", 1)
    work = Background()
    assert work.lift()
    with work.working():
        proof = prove({A: "hang", B: "pass"})
    assert "no test ended within 1 s" in proof.failed[0].message


def test_a_jvm_that_prints_without_end_is_ended(prove, monkeypatch):
    monkeypatch.setattr(forks, "_MOST_OUTPUT", 2**20)
    assert "wrote more than 1 MB and was ended" in prove({A: "flood", B: "pass"}).failed[0].message


def test_a_base_that_dies_of_the_same_test_excuses_nobody(prove):
    proof = prove({A: "exit 3", B: "pass"}, base={A: "exit 3", B: "pass"})
    assert [each.fails_on_base for each in proof.failed] == [None, None]


def test_skipped_tests_are_a_gap(prove):
    assert prove({A: "skip", B: "pass"}).gap == "1 tests were skipped by their own conditions: k.ATest"


def test_tests_that_cannot_be_counted_on_base_are_an_error(prove):
    with pytest.raises(HarnessError, match=r"cannot be counted on .*base\.jar"):
        prove(SOUND, base={})


def test_reports_of_an_earlier_call_are_gone(prove, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "TEST-old.xml").touch()
    prove(SOUND)
    assert not (tmp_path / "out" / "TEST-old.xml").exists()


def test_related_to_nothing_is_a_gap_and_no_pass_without_words(prove, tmp_path):
    with zipfile.ZipFile(tmp_path / "kafka-raft-9-test.jar", "w") as jar:
        jar.writestr("LICENSE", "")
    proof = prove({A: "fail", B: "fail"}, scope=TestScope.RELATED)
    assert (proof.count, proof.gap) == (0, "none of upstream's tests is related to what changed")


def test_the_scope_none_runs_nothing(prove):
    assert prove({A: "fail", B: "fail"}, scope=TestScope.NONE).count == 0


def test_the_series_own_tests_run_on_the_candidate(prove, series):
    proof = prove({**SOUND, "k.SeriesTest#s": "pass"}, series_tests=series)
    assert [(each.suite, each.name) for each in proof.classes][-1] == (TestSuite.SERIES, "k.SeriesTest")
    assert proof.failed == ()


def test_a_failing_test_of_the_series_that_does_not_compile_against_base_has_no_answer_there(prove, series):
    tests = {**SOUND, "k.SeriesTest#s": "fail"}
    (failed,) = prove(tests, series_tests=series, builder=Compiler("base.jar")).failed
    assert (failed.suite, failed.fails_on_base) == (TestSuite.SERIES, None)


def test_a_failing_test_of_the_series_is_run_on_base_where_it_compiles(prove, series):
    tests = {**SOUND, "k.SeriesTest#s": "fail"}
    (failed,) = prove(tests, base=tests, series_tests=series).failed
    assert failed.fails_on_base is True


def test_series_tests_that_do_not_compile_against_the_candidate_block(prove, series):
    (failed,) = prove(SOUND, series_tests=series, builder=Compiler("candidate.jar")).failed
    assert (failed.suite, failed.name, failed.blocks) == (TestSuite.SERIES, "compilation", True)
    assert "X.java:1: error: no such method" in failed.message


def test_a_test_class_of_the_series_without_any_test_is_missed(prove, series):
    (series / "k" / "LostTest.java").touch()
    (failed,) = prove({**SOUND, "k.SeriesTest#s": "pass"}, series_tests=series).failed
    assert failed.name == "k.LostTest"


def test_the_series_folder_must_hold_tests(prove, tmp_path):
    with pytest.raises(HarnessError, match="holds no Java file"):
        prove(SOUND, series_tests=tmp_path / "cache")


@pytest.fixture
def other(tmp_path):
    """Make the tests of the release 9.2: how each ends on the candidate, and on base."""

    def make(candidate, base=None, changed=("k.ATest",)):
        jar, ends = tmp_path / "kafka-raft-9.2-test.jar", {"candidate.jar": candidate, "base.jar": base or candidate}
        make_test_jar(jar, b"9", ["k.ATest", "k.BTest"], ends)
        with zipfile.ZipFile(jar, "a") as made:
            for name in changed:
                made.writestr(f"{name.replace('.', '/')}$1.class", b"\xca\xfe\xba\xbe\0\0\0\0\0\1")
        return OtherRelease("9.2", (jar,))

    return make


def test_a_failing_test_that_the_jars_own_release_has_changed_is_excused_where_the_jar_passes_that(prove, other):
    proof = prove({A: "fail", B: "pass"}, other=other(SOUND))
    (failed,) = proof.failed
    assert (failed.suite, failed.name, failed.blocks) == (TestSuite.UPSTREAM, "a", False)
    assert failed.excuse == "Kafka 9.2's own version of this test passes on the jar"
    ran = [each.name for each in proof.classes if each.suite is TestSuite.RELEASE]
    assert ran == ["k.ATest", "k.BTest"]


def test_an_earlier_release_that_does_not_have_a_fix_yet_excuses_no_failure_of_its_test(prove, other):
    earlier = replace(other(SOUND), is_later=False)
    upstreams = [
        each for each in prove({A: "fail", B: "pass"}, other=earlier).failed if each.suite is TestSuite.UPSTREAM
    ]
    assert [(each.blocks, each.excuse) for each in upstreams] == [(True, "")]


def test_a_test_that_the_jars_own_release_fails_too_is_its_failure_twice(prove, other):
    changed, own = prove({A: "fail", B: "pass"}, other=other({A: "fail", B: "pass"}, SOUND)).failed
    assert (changed.suite, changed.blocks) == (TestSuite.UPSTREAM, True)
    assert (own.suite, own.fails_on_base, own.blocks) == (TestSuite.RELEASE, False, True)


def test_a_test_of_the_jars_release_that_base_fails_too_does_not_count(prove, other):
    (failed,) = prove(SOUND, other=other({A: "fail", B: "pass"})).failed
    assert (failed.suite, failed.fails_on_base, failed.blocks) == (TestSuite.RELEASE, True, False)


def test_a_test_that_the_jars_release_has_no_longer_is_excused_only_where_its_class_is_there_and_passes(prove, other):
    (gone,) = prove({A: "fail", B: "pass"}, other=other({"k.ATest#new": "pass", B: "pass"})).failed
    assert gone.excuse == "Kafka 9.2 has this test no longer, and its ATest passes on the jar (1 test)"
    (without_class,) = prove({A: "fail", B: "pass"}, other=other({B: "pass"})).failed
    assert (without_class.excuse, without_class.blocks) == ("", True)


def test_tests_of_the_jars_release_that_cannot_be_counted_are_a_gap_and_excuse_nothing(prove, other):
    proof = prove({A: "fail", B: "pass"}, other=other({"k.SeriesTest#s": "pass"}, {}))
    assert proof.gap.startswith("Kafka 9.2's own tests were not run: The tests cannot be counted on ")
    assert [each.blocks for each in proof.failed] == [True]


def later(release, jars):
    """Return a release whose tests are counted when they are fetched."""
    return LaterRelease(release, lambda: jars.append(release) or jars[0])


def test_a_failing_test_that_a_later_release_has_changed_is_excused_whatever_the_jar_calls_itself(prove, other):
    fetched = [other(SOUND).jars]
    releases = (later("9.2", fetched), later("9.3", fetched))
    (failed,) = prove({A: "fail", B: "pass"}, later=releases).failed
    assert (failed.name, failed.blocks) == ("a", False)
    assert failed.excuse == "Kafka 9.2's own version of this test passes on the jar"
    assert fetched[1:] == ["9.2"], "nothing is asked of 9.3, of which nothing is left to ask"


def test_a_test_that_later_releases_fail_too_blocks(prove, other):
    fetched = [other({A: "fail", B: "pass"}).jars]
    (failed,) = prove({A: "fail", B: "pass"}, later=(later("9.2", fetched), later("9.3", fetched))).failed
    assert failed.blocks
    assert fetched[1:] == ["9.2", "9.3"]


def test_a_test_that_another_release_has_as_it_is_excuses_nothing_by_passing_there(prove, other):
    """It would be the same test, asked once more until it passes."""
    (named,) = prove({A: "fail", B: "pass"}, other=other(SOUND, changed=["k.BTest"])).failed
    fetched = [other(SOUND, changed=["k.BTest"]).jars]
    (asked,) = prove({A: "fail", B: "pass"}, later=(later("9.2", fetched),)).failed
    assert (named.excuse, named.blocks, asked.excuse, asked.blocks) == ("", True, "", True)


def test_a_test_that_fails_now_and_then_is_no_change_of_behaviour_that_a_release_could_excuse(prove, other):
    (failed,) = prove({A: "fail-once", B: "pass"}, other=other(SOUND)).failed
    assert failed.blocks
    assert failed.message == "it is wrong (it passed when it ran again, so that it fails now and then)"


@pytest.mark.parametrize("end", ["exit 3", "then-exit 3"])
def test_a_test_jvm_that_dies_is_not_excused_by_a_release_whose_tests_pass(prove, other, end):
    proof = prove({A: end, B: "pass"}, other=other(SOUND))
    assert [each.excuse for each in proof.failed if each.suite is TestSuite.UPSTREAM]
    assert all(each.blocks for each in proof.failed if each.suite is TestSuite.UPSTREAM)


def test_later_releases_are_not_fetched_where_nothing_fails(prove, other):
    fetched = [other(SOUND).jars]
    assert prove(SOUND, later=(later("9.2", fetched),)).failed == ()
    assert len(fetched) == 1


def test_a_later_release_that_cannot_be_had_is_a_gap_and_excuses_nothing(prove):
    def fetch():
        raise HarnessError("There is no network.")

    proof = prove({A: "fail", B: "pass"}, later=(LaterRelease("9.2", fetch),))
    assert [each.blocks for each in proof.failed] == [True]
    assert proof.gap == "Kafka 9.2's versions of the failing tests were not asked: There is no network."


def test_the_jar_under_test_comes_after_the_tests_on_the_class_path(bench, tmp_path):
    jvm = forks.Jvm(bench.java, (tmp_path / "a.jar",), {}, LINE.logging)
    command = jvm.command(["x"], tmp_path / "f")
    assert command[command.index("-cp") + 1] == f"{tmp_path}/f/services{os.pathsep}{tmp_path}/a.jar"


def test_the_forks_die_when_the_harness_is_interrupted(bench, tmp_path):
    (tmp_path / "candidate.jar").write_text(json.dumps({A: "hang"}))
    script = f"""
import sys
from pathlib import Path
from harness.kafka.release_lines import line_of
from harness.toolbox.java import JavaRuntime
from harness.proof.junit.forks import Jvm, run_launchers
java, jar = JavaRuntime(Path({str(tmp_path / "java")!r}), "21"), Path({str(tmp_path / "candidate.jar")!r})
jvm = Jvm(java, (jar,), {{}}, line_of("3.9.1").logging)
run_launchers(jvm, [["--select-method={A}()"]], Path({str(tmp_path / "scratch")!r}), 1, lambda done: None)
"""
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL) as parent:
        children = waited(lambda: [c for c in psutil.Process(parent.pid).children() if "-cp" in c.cmdline()])
        parent.send_signal(signal.SIGINT)
        parent.wait(20)
    assert waited(lambda: not any(child.is_running() for child in children))


def waited(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return met
