"""Good and bad jars of all kinds, each built and verified: none of the good may be held back, all of the bad must be.

    python benchmarks/given_jars.py good|bad OUT [NAME …]

Every jar is built into OUT/jars, verified as a user would (`harness verify --jar JAR`) into OUT/<name>, and gets a row
in OUT/good.md or OUT/bad.md; exit 1 unless each of those asked for is SHIP, or for bad ones HOLD by what was written in
mutants.toml before. What is there already is not done again. Good ones are `tests/sound/*.patch` laid over the released
sources and more; bad ones are `tests/mutants/series/*.patch`, each on top of the shipped series.
"""

from __future__ import annotations

import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.building.patched_jar import patched_jar
from harness.kafka.patching import Patch, load_patch, load_series
from harness.kafka.series import series_folder
from harness.model.detection import Detection
from harness.model.runs import Verdict
from harness.model.verdict import VerdictRecord
from harness.rundir.directory import RunDirectory
from harness.stages.detecting import caught_in
from harness.stages.detection_table import table
from harness.stages.mutant_folder import load_mutants
from harness.toolbox.lockfile import Artifact, Purpose
from harness.toolbox.toolbox import local_toolbox

KAFKA = "3.9.1"
TESTS = Path(__file__).parent.parent / "tests"
VENDOR = f"{KAFKA}.redhat-00003"
NEXT = Artifact(
    "org.apache.kafka:kafka-raft:jar:3.9.2",
    "f897533828e55ac466a5b183a25dccbe5a7b97c02162dac38e25338feddfe422",
    288382,
    Purpose.RUNTIME,
)


Maker = Callable[[Path], Path]  # makes a jar in a folder, and returns it


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar to verify, and the one that it is to replace: Apache's where none is given; of a bad one what is wrong."""

    make: Maker
    make_base: Maker | None = None
    wrong: Detection | None = None

    def words(self, folder: Path) -> list[str]:
        """Return the words of a command line that name the jar; it is built into `folder`."""
        base = ["--base-jar", str(self.make_base(folder / "base"))] if self.make_base else []
        return ["--jar", str(self.make(folder)), *base]


def main() -> None:
    kind, out = sys.argv[1], Path(sys.argv[2]).absolute()
    make_jars, right = {"good": (good_jars, Verdict.SHIP), "bad": (bad_jars, Verdict.HOLD)}[kind]
    jars = make_jars()
    asked = sys.argv[3:] or list(jars)
    for name in asked:
        run_dir = out / name
        if not (run_dir / "verdict.json").exists():
            words = jars[name].words(out / "jars" / name)
            began = time.monotonic()
            command = [sys.executable, "-m", "harness", "verify", "--fresh", *words, "--out", str(run_dir)]
            subprocess.run(command, check=False)
            print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    known = [(name, RunDirectory(out / name).verdict) for name in jars]
    found = {name: verdict.read() for name, verdict in known if verdict.exists}
    made = table(judged(jars, found)) if kind == "bad" else shipped_table(found)
    (out / f"{kind}.md").write_text(f"{made}\n", encoding="utf-8")
    print(made)
    wrong = [name for name in asked if name not in found or found[name].verdict is not right]
    otherwise = [each.name for each in judged(jars, found) if each.name in asked and not each.as_expected]
    said = (f"Not {right}: {', '.join(wrong)}.", f"Not by what was written: {', '.join(otherwise)}.")
    sys.exit(" ".join(each for each, names in zip(said, (wrong, otherwise), strict=True) if names) or 0)


def shipped_table(found: Mapping[str, VerdictRecord]) -> str:
    rows = [f"| {name} | {each.verdict} | {each.sentence} | {each.against} |" for name, each in found.items()]
    return "\n".join(("| jar | verdict | first sentence | strongest reason against |", "|---|---|---|---|", *rows))


def judged(jars: Mapping[str, Jar], found: Mapping[str, VerdictRecord]) -> list[Detection]:
    """Return the bad jars that were verified, each with what holds it back."""
    wrong = {name: jars[name].wrong for name in found}
    return [replace(each, caught=caught_in(found[name])) for name, each in wrong.items() if each]


def good_jars() -> Mapping[str, Jar]:
    """Return the good jars by name; each is built on demand, into a folder of its own."""
    shipped, backports = load_series(series_folder(KAFKA)).patches, patches_of(TESTS / "sound")
    return {
        **{name: Jar(lambda into, patch=patch: built(into, patch)) for name, patch in backports.items()},
        "released-3.9.2": Jar(lambda _: local_toolbox().downloads.fetch(NEXT)),
        "stock-recompiled": Jar(built),
        "another-compiler": Jar(lambda into: built(into, *shipped, builder="ecj")),
        "vendor-version": Jar(lambda into: renamed(built(into, backports["kafka-18061"]), VENDOR)),
        "p1-on-p0": Jar(
            lambda into: built(into, *shipped, backports["kafka-18131"]),
            lambda into: built(into, *shipped),
        ),
    }


def bad_jars() -> Mapping[str, Jar]:
    """Return the bad jars by name: the shipped series with one line wrong in each, none that may survive."""
    shipped, folder = load_series(series_folder(KAFKA)).patches, load_mutants(TESTS / "mutants" / "series")
    return {
        each.name: Jar(
            lambda into, patch=each.patch: built(into, *shipped, patch),
            wrong=Detection(each.name, each.patch.subject, each.expected),
        )
        for each in folder.mutants
        if not each.expected.survives
    }


def patches_of(folder: Path) -> dict[str, Patch]:
    return {path.stem: load_patch(folder, path.name) for path in sorted(folder.glob("*.patch"))}


def built(into: Path, *patches: Patch, builder: str = "auto") -> Path:
    """Compile the released sources with patches; return the jar."""
    return patched_jar(KAFKA, patches, into, local_toolbox(), print, builder)


def renamed(jar: Path, version: str) -> Path:
    """Return a copy of a jar as a vendor names it: in the file's name and wherever the jar says its version."""
    copy = jar.with_name(f"kafka-raft-{version}.jar")
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith((".MF", ".properties")):
                content = content.replace(KAFKA.encode(), version.encode())
            new.writestr(entry, content)
    return copy


if __name__ == "__main__":
    main()
