"""Simulations on a jar: many seeds on the candidate, and each that fails replayed on it and on base."""

from __future__ import annotations

import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_bytes
from harness.building.java_programs import compiled_probe, compiled_program
from harness.model.simulation import FailedSeed, SimulatedProperty, Simulation
from harness.proof.junit import TestBench
from harness.proof.simulation.driver import SimulationJvm, replay_seed, run_seeds
from harness.proof.simulation.feed import Try, failed

UPSTREAM = "org.apache.kafka.raft.RaftEventSimulationTest"
_OWN = ("org.apache.kafka.raft.VoterChangeSimulation", "org.apache.kafka.raft.LossyVoterChangeSimulation")
_DRIVER = Path(__file__).with_name("Simulations.java")
_VOTERS = Path(__file__).with_name("voters")
_MOST_REPLAYS = 8
_MOST_LOG = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Replay:
    """How a seed ended when it was run once more, None where its simulation never began, and the log of it."""

    ended: Try | None
    log: Path

    @property
    def passed(self) -> bool | None:
        """Whether it passed; None where its JVM ended before it did."""
        return self.ended.passed if self.ended else None


@dataclass(frozen=True, slots=True)
class SimulatedJars:
    """The jars to compare, and what their simulations run with.

    `own` are the classes of our simulations, or why they do not compile: the API of raft's tests is nobody's promise.
    """

    bench: TestBench
    candidate: Path
    base: Path

    own: Path | str

    @property
    def classes(self) -> tuple[str, ...]:
        """The simulations that this Kafka can be asked."""
        return (UPSTREAM, *_OWN) if isinstance(self.own, Path) else (UPSTREAM,)

    @property
    def left_out(self) -> str:
        """Why ours cannot be asked, in a sentence; empty where they can."""
        return "" if isinstance(self.own, Path) else f"Voter changes were not simulated: {self.own}"

    def jvm(self, jar: Path) -> SimulationJvm:
        """Return what simulations of one of the jars run on. Raises HarnessError."""
        bench = self.bench
        driver = compiled_probe(bench.builder, _DRIVER, bench.jars, bench.cache)
        # The tests come first: a jar that brings classes of their names must not run in their place.
        tests = (driver, *([self.own] if isinstance(self.own, Path) else []), *bench.jars)
        return SimulationJvm(bench.java, (*tests, jar.absolute(), *bench.others), bench.line.logging)

    def replay(self, name: str, seed: int, scratch: Path) -> tuple[Replay, Replay]:
        """Run one property with one seed on the candidate and on base. Raises HarnessError."""
        on_candidate, on_base = replay_seed((self.jvm(self.candidate), self.jvm(self.base)), name, seed, scratch)
        return Replay(*on_candidate), Replay(*on_base)


def simulated_jars(bench: TestBench, candidate: Path, base: Path) -> SimulatedJars:
    """Return two jars to simulate; our simulations are compiled against base's, whose place the candidate takes."""
    sources = sorted(path.name for path in _VOTERS.glob("*.java"))
    class_path = (*bench.jars, base.absolute(), *bench.others)
    try:
        own: Path | str = compiled_program(bench.builder, _VOTERS, sources, class_path, bench.cache)
    except HarnessError as error:
        own = error.message
    return SimulatedJars(bench, candidate, base, own)


def simulate(jars: SimulatedJars, asked: str, seconds: float, out: Path) -> Simulation:
    """Run seed after seed for so many seconds on both jars; logs of those that fail go to the folder `out`.

    `asked` is the time as it was given. Raises HarnessError when the driver does not compile.
    """
    began = time.monotonic()
    if not _has_class(jars.bench.released, UPSTREAM):
        return Simulation(asked, gap=f"No simulation ran: {jars.bench.released.name} has no {UPSTREAM}.")
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as folder:
        scratch, jvms = Path(folder), (jars.jvm(jars.candidate), jars.jvm(jars.base))
        tries, on_base = run_seeds(jvms, jars.classes, seconds, scratch / "seeds")
        properties = _properties(tries, on_base)
        sound = {each.name for each in properties if not each.base_failed}
        suspects = [each for each in failed(tries) if each.property in sound][:_MOST_REPLAYS]
        seeds = [_failed_seed(jars, each, scratch / f"replay-{n}", out) for n, each in enumerate(suspects)]
    gap = "" if tries else "No simulation ran: the JVM that runs them ended before its first."
    took = round(time.monotonic() - began, 2)
    return Simulation(asked, properties, tuple(seeds), gap, jars.left_out, took)


def log_name(name: str, seed: int) -> str:
    """Return how the log of a replayed seed is named."""
    return f"{name.rpartition('.')[2].replace('#', '-')}-{seed}.log"


def keep_log(log: Path, kept: Path) -> None:
    """Keep the end of a log, which tells how it came to the failure; a whole one may have a hundred megabytes."""
    if not log.is_file():
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _MOST_LOG))
        write_bytes(kept, stream.read())


def _failed_seed(jars: SimulatedJars, first: Try, scratch: Path, out: Path) -> FailedSeed:
    again, on_base = jars.replay(first.property, first.seed, scratch)
    kept = out / log_name(first.property, first.seed)
    keep_log(again.log, kept)
    return FailedSeed(
        name=first.property,
        seed=first.seed,
        arguments=first.arguments,
        message=first.message,
        trace=first.trace,
        fails_again=not again.passed,
        fails_on_base=None if on_base.passed is None else not on_base.passed,
        log=kept.name if kept.is_file() else "",
    )


def _properties(tries: Sequence[Try], on_base: Sequence[Try]) -> tuple[SimulatedProperty, ...]:
    seeds, failures = (Counter(each.property for each in some) for some in (tries, failed(tries)))
    base_seeds, base_failures = (Counter(each.property for each in some) for some in (on_base, failed(on_base)))
    return tuple(
        SimulatedProperty(name, seeds[name], failures[name], base_seeds[name], base_failures[name])
        for name in sorted(seeds)
    )


def _has_class(jar: Path, name: str) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return f"{name.replace('.', '/')}.class" in archive.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        raise HarnessError(f"{jar} cannot be read: {error}.", "Delete it; it is fetched again.") from error
