"""Rounds of a table of mutants: costs are compared only with what ran beside, and what was lent is lent whole."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from test_another_round import BUSY
from test_detecting import Bench

from harness.base.files import write_text
from harness.engine.sealing import seal_of
from harness.model.detection import Part
from harness.model.runs import Outcome, RunKey, RunResult
from harness.rundir.directory import RunDirectory

MISSED = (Outcome.INCONCLUSIVE, "is_up")


class Measuring(Bench):
    """A bench whose runs took so much of a core, and have spares; `stop` says before which Ctrl-C comes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        super().__init__(monkeypatch, root)
        self.clock, self.made = itertools.count(1), Counter[RunKey]()
        self.percent: Callable[[RunKey], float] = lambda _: 1.0
        self.misses: Callable[[RunKey], bool] = lambda _: False
        self.stop: Callable[[RunKey], bool] = lambda _: False

    def build(self, folder: Path, *_) -> None:
        super().build(folder)
        declaration = RunDirectory(folder).declaration
        declaration.write(replace(declaration.read(), has_spares=True))

    def run(self, cells, root: Path, *_):
        for cell in cells:
            if self.stop(cell.key):
                raise KeyboardInterrupt
            self.ran.append((cell.key.scenario, cell.key.arm, cell.key.repeat))
            self.made[cell.key] += 1
            folder = RunDirectory(root).run(cell.key)
            outcome, name = MISSED if self.misses(cell.key) else (Outcome.PASSED, "")
            last = {"seq": 1, "t": next(self.clock), "at": "", "event": "outcome", "outcome": outcome}
            write_text(folder.journal, json.dumps({**last, "expectation": name, "reason": ""}) + "\n")
            write_text(folder.path / "nodes/0/server.log", "x\n")
            measures = {BUSY: self.percent(cell.key)}
            result = RunResult(*cell_of(cell.key), cell.role, cell.key.repeat, outcome, name, measures=measures)
            folder.seal.write(seal_of(cell, folder, result))
            folder.result.write(result)
        return []


def cell_of(key: RunKey) -> tuple[str, str]:
    return key.scenario, key.arm


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Measuring:
    return Measuring(monkeypatch, tmp_path)


@pytest.mark.parametrize("beside_the_lent_one", [1.0, 97.0])
def test_a_jar_that_was_unlucky_once_is_cleared_by_its_second_round_whatever_the_lent_base_cost(
    bench: Measuring, beside_the_lent_one: float
) -> None:
    detector = bench.detector(*Part)

    def percent(key: RunKey) -> float:
        is_first = key.arm == "jar" and key.repeat == 1
        if is_first and key.scenario == "turn2" and bench.made[key] == 1:
            return beside_the_lent_one
        return 97.0 if is_first and key.scenario == "turn1" and bench.made[key] == 2 else 1.0

    bench.percent = percent
    assert detector.detect(bench.suspect("sound", "scenarios")).caught == ()


def test_a_spare_that_ran_beside_the_lent_base_is_no_half_of_a_round_of_costs(bench: Measuring) -> None:
    detector = bench.detector(*Part)
    bench.ran.clear()
    bench.misses = lambda key: (key.scenario, key.arm, bench.made[key]) == ("turn1", "jar", 1) and key.repeat == 1
    bench.percent = lambda key: 97.0 if (key.scenario, key.arm) == ("turn1", "jar") else 1.0
    (caught,) = detector.detect(bench.suspect("wrong", "scenarios")).caught
    assert "turn1: jar costs more than stock" in caught.said
    assert bench.ran[-2:] == [("turn1", "stock", 2), ("turn1", "jar", 2)]


def test_a_round_of_costs_that_was_cut_short_is_run_again_whole(bench: Measuring) -> None:
    detector = bench.detector(*Part)
    bench.stop = lambda key: (key.scenario, key.arm) == ("turn1", "jar")
    with pytest.raises(KeyboardInterrupt):
        detector.detect(bench.suspect("slow", "costs"))
    bench.stop = lambda _: False
    bench.ran.clear()
    bench.detector(*Part).detect(bench.suspect("slow", "costs"))
    assert {("turn1", "stock", 1), ("turn1", "jar", 1)} <= {*bench.ran}


@pytest.mark.parametrize("at", ["server.log", "result.json"])
def test_a_loan_that_was_cut_short_is_made_anew(bench: Measuring, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    detector, suspect = bench.detector(*Part), bench.suspect("sound", "scenarios")
    link = os.link

    def interrupted(source, *others, **options):
        if str(source).endswith(at):
            raise KeyboardInterrupt
        return link(source, *others, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", interrupted)
        with pytest.raises(KeyboardInterrupt):
            detector.detect(suspect)
    assert not (suspect.folder / "runs/turn1/stock/1").exists()
    assert bench.detector(*Part).detect(suspect).undecided == ""
    assert not [*suspect.folder.glob(".*")]
