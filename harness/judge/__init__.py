"""The judge: pure functions from declared runs and their results to a verdict with its reasons."""

from harness.judge.asked import SCHEMA, Asked, ScenarioAsked
from harness.judge.cells import CellOutcome, CellState, fold_repeats
from harness.judge.checks import Check, check_run, expected_of
from harness.judge.decision import ClaimStatus, JudgedClaim, JudgedScenario, Judgement, decide
from harness.judge.standing import Promise
from harness.judge.table import Effect, Inertness, Ruling, rule

__all__ = [
    "SCHEMA",
    "Asked",
    "CellOutcome",
    "CellState",
    "Check",
    "ClaimStatus",
    "Effect",
    "Inertness",
    "JudgedClaim",
    "JudgedScenario",
    "Judgement",
    "Promise",
    "Ruling",
    "ScenarioAsked",
    "check_run",
    "decide",
    "expected_of",
    "fold_repeats",
    "rule",
]
