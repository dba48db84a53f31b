"""The reproductions of docs/upstream on released raft jars: which versions have which defect.

    python benchmarks/upstream.py 3.9.1 4.3.1
    python benchmarks/upstream.py 3.9.1=out/run/builds/patched/kafka-raft-3.9.1.jar

Each test says what Kafka should do, and so fails where it has the defect. They are written for 3.9's test classes; what
these are called in the tests of a later release is looked up there. Compiles and runs on the harness's own runtime.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.building.builders.ecj import ecj_of
from harness.building.compiling import first_errors
from harness.kafka.distribution import distribution_of
from harness.kafka.lock import read_lock
from harness.kafka.release_lines import line_of
from harness.proof.junit.bench import TestBench
from harness.proof.junit.fork_plan import units_of
from harness.proof.junit.junit_tests import JUnitTest, Status
from harness.proof.junit.test_runs import Runs, TestedJar
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import local_toolbox

TESTS = Path(__file__).parents[1] / "docs" / "upstream" / "junit"
_RECORDS = ("MemoryRecords", "UnalignedMemoryRecords")
_OFFSET_AND_EPOCH = "import org.apache.kafka.server.common.OffsetAndEpoch;\n"
_CONTEXT = "org/apache/kafka/raft/RaftClientTestContext.class"


def main(words: list[str]) -> int:
    told = {word: outcomes(*word.partition("=")[::2]) for word in words}
    names = sorted({name for found in told.values() for name in found})
    print("| reproduction |", " | ".join(told), "|")
    print("|---" * (len(told) + 1) + "|")
    for name in names:
        print(f"| `{name}` |", " | ".join(found.get(name, "not run") for found in told.values()), "|")
    return 0


def outcomes(version: str, jar: str) -> dict[str, str]:
    """Return how each test ends on a release's raft jar, or on another one beside that release's others."""
    toolbox, line = local_toolbox(), line_of(version)
    kafka = distribution_of(None, version, toolbox)
    jars = toolbox.downloads.fetch_all(read_lock(version).of(Purpose.TESTS))
    builder = ecj_of(toolbox)
    bench = TestBench(line, toolbox.java(), jars, kafka.others, builder, toolbox.cache, forks=1)
    tested = Path(jar).absolute() if jar else kafka.raft_jar
    with tempfile.TemporaryDirectory() as folder:
        root, classes = Path(folder) / "sources", Path(folder) / "classes"
        root.mkdir()
        sources = written(root, spelled(jars, kafka.others))
        done = builder.compile(root, sources, (*jars, tested, *kafka.others), classes, line.class_files)
        if not done.succeeded:
            raise HarnessError(f"On {version} they do not compile: {first_errors(done.output)}")
        (out := Path(folder) / "reports").mkdir()
        runs, at = Runs(bench, Path(folder) / "scratch", out), TestedJar(version, tested, (classes,))
        cases = runs.run(at, units_of(runs.count(at, classes), {}), lambda _: None)
    return {f"{case.class_name.rpartition('.')[2]}#{case.name.rstrip('()')}": in_a_word(case) for case in cases}


def in_a_word(case: JUnitTest) -> str:
    words = {Status.PASSED: "passes", Status.FAILED: "**fails**"}
    return words.get(case.status, case.status.name)


def written(root: Path, names: dict[str, str]) -> list[str]:
    """Write the tests with the names that a release has for what they use; return their files."""
    for test in TESTS.glob("*.java"):
        text = test.read_text(encoding="utf-8")
        for old, new in names.items():
            text = text.replace(old, new)
        (root / test.name).write_text(text, encoding="utf-8")
    return sorted(path.name for path in root.iterdir())


def spelled(tests: Sequence[Path], others: Sequence[Path]) -> dict[str, str]:
    """Return how a release spells what 3.9 calls otherwise."""
    names = {}
    if any("unattachedToLeader" in content(jar, _CONTEXT) for jar in tests):
        names[".becomeLeader()"] = ".unattachedToLeader()"
    if any(content(jar, "org/apache/kafka/common/record/internal/MemoryRecords.class") for jar in others):
        names |= {f"common.record.{each}": f"common.record.internal.{each}" for each in _RECORDS}
    if any("server/common/OffsetAndEpoch" in content(jar, _CONTEXT) for jar in tests):
        names["import org.junit.jupiter.api.Test;"] = f"{_OFFSET_AND_EPOCH}import org.junit.jupiter.api.Test;"
    return names


def content(jar: Path, entry: str) -> str:
    with zipfile.ZipFile(jar) as packed:
        return packed.read(entry).decode("latin-1") if entry in packed.NameToInfo else ""


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:] or ["3.9.1"]))
    except HarnessError as error:
        sys.exit(str(error))
