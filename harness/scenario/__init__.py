"""Scenarios: one question put to a real cluster, as a plan of phases, guards, actions and expectations."""

from harness.scenario import rolls
from harness.scenario.api import Scenario, kraft, scenario
from harness.scenario.load import produce

__all__ = ["Scenario", "kraft", "produce", "rolls", "scenario"]
