"""What outcomes name beside a scenario's own expectations, and the words for outcomes that an earlier harness had."""

from __future__ import annotations

import re

NODE_ALIVE = "node_alive"
STOPS_ON_SIGTERM = "stops_on_sigterm"
NOTHING_LOST = "nothing_lost"
QUESTION_REACHABLE = "question_reachable"
HOST_NOT_STARVED = "host_not_starved"
KNOWN_CRASH = "known_crash"
WITHIN_BUDGET = "within_budget"
LEDGER_READ = "ledger_read"
RECORDS_ACKNOWLEDGED = "records_acknowledged"
HARNESS_ALIVE = "harness_alive"
TESTABLE = "testable"
METRICS_KEPT = "metrics_kept"
ACTION_DONE = "action_done"

# What an INCONCLUSIVE run names when the host starved the nodes, or when one ended by a defect that released jars have.
# It says nothing about the build; every other name is a guard of the scenario, an action that failed, a ledger that had
# nothing to check, or the plan's budget on a host that was not slow, and the build can be the cause of it.
SAYS_NOTHING_OF_THE_BUILD = frozenset({HOST_NOT_STARVED, KNOWN_CRASH})
# What is looked at only where nothing else failed: a run that failed says nothing of it.
LOOKED_AT_LAST = frozenset({LEDGER_READ, RECORDS_ACKNOWLEDGED})

FORMER_OUTCOMES = {"HELD": "PASSED", "REFUTED": "FAILED", "STOPPED": "FAILED"}
FORMER_EXPECTATIONS = {"ledger_asked": RECORDS_ACKNOWLEDGED, "askable": TESTABLE}
_OUTCOME = re.compile(r"\b(HELD|REFUTED)\b(?=$|\()")
_EXPECTATION = re.compile(r"(?<=\()(ledger_asked|askable)(?=\))")


def outcome_of_today(text: str) -> str:
    """Return an outcome as reports write it now: `FAILED(x)` for `REFUTED(x)`."""
    shown = _OUTCOME.sub(lambda found: FORMER_OUTCOMES[found[0]], text)
    return _EXPECTATION.sub(lambda found: FORMER_EXPECTATIONS[found[0]], shown)


def now_called(text: str) -> str:
    """Return a clause for a message about a former outcome, `; it is called PASSED now`; empty for any other text."""
    today = outcome_of_today(text)
    return f"; it is called {today} now" if today != text else ""
