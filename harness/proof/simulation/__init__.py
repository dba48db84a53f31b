"""Simulations of a quorum on the jar under test: upstream's own with many seeds, in virtual time."""

from harness.proof.simulation.simulating import Replay, SimulatedJars, keep_log, log_name, simulate

__all__ = ["Replay", "SimulatedJars", "keep_log", "log_name", "simulate"]
