"""Simulations of a quorum on the jar under test: upstream's own with many seeds, in virtual time."""

from harness.proof.simulation.simulating import Replay, keep_log, log_name, simulate, simulated_jars

__all__ = ["Replay", "keep_log", "log_name", "simulate", "simulated_jars"]
