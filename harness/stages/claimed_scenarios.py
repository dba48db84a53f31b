"""Whether what claims say of scenarios can be shown at all: known before anything is built, or only at the end."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from harness.base.errors import HarnessError, unknown
from harness.model.claims import Claim
from harness.scenario.registry import Scenarios
from harness.scenario.steps import named_expectations

_ALIKE = 0.8  # a name so near to an expectation's is a slip; others may be of invariants, which any monitor may have


def check_claimed_scenarios(claims: Iterable[Claim], known: Scenarios, file: str) -> None:
    """Raise HarnessError for a claim about a scenario that there is not, or with a slip in an expectation's name."""
    for claim in claims:
        if claim.scenario not in known:
            raise HarnessError(
                f"{file}: claim {claim.id}: {unknown('scenario', claim.scenario, known)}",
                "`harness list` shows every scenario; --scenarios names a folder of your own.",
            )
        names = [*named_expectations(known[claim.scenario].plan().everything)]
        for role, expected in claim.expected.items():
            meant = difflib.get_close_matches(expected.expectation, names, n=1, cutoff=_ALIKE)
            if meant and expected.expectation not in names:
                raise HarnessError(
                    f"{file}: claim {claim.id}, expect.{role}: {claim.scenario} has no expectation "
                    f"{expected.expectation}. Did you mean {meant[0]}?",
                    f"`harness plan {claim.scenario}` shows its expectations.",
                )
