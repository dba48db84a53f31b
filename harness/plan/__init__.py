"""Scenarios: one question put to a real cluster, as a plan of phases, guards, actions and expectations."""

from harness.plan import rolls
from harness.plan.api import Scenario, kraft, scenario
from harness.plan.load import produce

__all__ = ["Scenario", "kraft", "produce", "rolls", "scenario"]
