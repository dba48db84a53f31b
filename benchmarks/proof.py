"""What the drop-in proof of the patched jar takes, part by part and as a whole; caches are warm from the second round.

python benchmarks/proof.py [ROUNDS]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.audit.claims_file import load_claims
from harness.base.paths import data_root
from harness.building.build_comparison import unpatched_jars
from harness.building.builders.ecj import ecj_of
from harness.building.every_config import read_used_config
from harness.building.raft_builds import Bench, Toolchain, build_series
from harness.kafka.distribution import as_declared, locked_distribution
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import load_series
from harness.proof.bytecode import read_each, read_references
from harness.proof.dropin import BaselineJar, Subject, named_classes, prepare_tools, prove_dropin
from harness.proof.dropin.api import compare_apis
from harness.proof.dropin.class_changes import visible
from harness.proof.dropin.entries import packages_of, read_jar
from harness.proof.dropin.loading import check_loading
from harness.rundir.directory import RunDirectory
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import local_toolbox

VERSION = "3.9.1"


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Print wall and CPU seconds, those of child processes included."""
    began, before = time.monotonic(), cpu()
    yield
    print(f"{name:44} {time.monotonic() - began:5.2f} s wall {cpu() - before:6.2f} CPU s", flush=True)


def cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    lock, toolbox = read_lock(VERSION), local_toolbox()
    downloads, java = toolbox.downloads, toolbox.java()
    kafka = locked_distribution(lock, downloads)
    ecj = ecj_of(toolbox)
    sources = downloads.fetch(lock.one(Purpose.SOURCES))
    folder = data_root() / "patches" / VERSION / "dynamic-bootstrap"
    series, claims = load_series(folder), load_claims(folder / "claims.toml")
    tools = prepare_tools(ecj, toolbox, kafka)
    baselines = tuple(BaselineJar(*each) for each in unpatched_jars([ecj], kafka, sources, 8, toolbox.cache))
    subject = Subject(named_classes(series), claims.flag, claims.flag_default, baselines)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(RunDirectory(Path(scratch)), tools.config, claims.flag, as_declared(kafka, None))
        chain = Toolchain(ecj, kafka, sources, 8)
        made = build_series(bench, chain, "patched", MavenSources(VERSION, sources), series)
        jar = Path(scratch) / made.jar
        classes = read_each(tools.bytecode, [jar])[0]
        parts: dict[str, Callable[[], object]] = {
            "classes of three jars (ASM)": lambda: read_each(tools.bytecode, [kafka.raft_jar, jar, baselines[0].jar]),
            "references of all other jars (ASM)": lambda: read_references(
                tools.bytecode, kafka.others, packages_of(read_jar(jar).names)
            ),
            "API and ABI (japicmp)": lambda: compare_apis(
                java, tools.comparer, kafka.raft_jar, jar, kafka.others, visible(classes).keys()
            ),
            "one jar's configuration (its own ConfigDefs)": lambda: read_used_config(tools.config, jar, kafka.others),
            "every class loaded, every use looked up": lambda: check_loading(
                java, tools.loader, jar, classes, kafka.others
            ),
            "the drop-in proof, all of them side by side": lambda: prove_dropin(tools, kafka.raft_jar, jar, subject),
        }
        for _ in range(rounds):
            for name, act in parts.items():
                with timed(name):
                    act()


if __name__ == "__main__":
    main()
