"""JUnit on the jar under test: upstream's released tests and those of the series, in forks, held against base."""

from harness.proof.junit.bench import LaterRelease, OtherRelease, TestBench
from harness.proof.junit.proving import run_tests

__all__ = ["LaterRelease", "OtherRelease", "TestBench", "run_tests"]
