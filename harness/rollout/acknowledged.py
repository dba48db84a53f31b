"""Whether clients get as much acknowledged while the candidate is rolled as while base is; pure.

A refused request makes no pause while others go on, and its ERROR lines are left to the clients' own reports
(harness.scenario.monitors.error_lines): this is what reads them.
"""

from __future__ import annotations

from dataclasses import replace

from harness.judge.acknowledgements import Sent, far_fewer
from harness.model.clients import ClientReport
from harness.model.outcome_names import RECORDS_ACKNOWLEDGED
from harness.model.rollout import Rehearsal
from harness.model.runs import Outcome

_ALL = Sent(1, 0, 0)  # where base's own roll was not rehearsed


def judged_by_clients(rehearsal: Rehearsal, control: Rehearsal | None) -> Rehearsal:
    """Return the rehearsal; one that passed has failed if a client got far less acknowledged than in the control."""
    known = {client.name: sent for client in control.clients if (sent := _sent(client))} if control else {}
    reasons = [why for client in rehearsal.clients if (why := _too_few(client, known.get(client.name, _ALL)))]
    if rehearsal.result.outcome is not Outcome.PASSED or not reasons:
        return rehearsal
    failed = replace(
        rehearsal.result, outcome=Outcome.FAILED, expectation=RECORDS_ACKNOWLEDGED, reason="; ".join(reasons)
    )
    return replace(rehearsal, result=failed)


def _too_few(client: ClientReport, base: Sent) -> str:
    sent = _sent(client)
    if sent is None or not sent.is_many or not far_fewer(sent, base):
        return ""
    against = "" if base is _ALL else f", against {base} in base's own roll"
    names = ", ".join(f"{count} × {name}" for name, count in client.not_acknowledged.items())
    return f"{client.name}: {sent} were acknowledged{against}; the others: {names}"


def _sent(client: ClientReport) -> Sent | None:
    sent = Sent(client.acknowledged, client.failed, client.unanswered)
    return sent if sent.total else None
