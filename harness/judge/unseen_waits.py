"""Whether long waits for a processor could be seen of the nodes of one arm only, since those excuse a run; pure.

What hides them on every arm, as ZooKeeper mode does, which has no raft thread, excuses no arm more than another.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.base.text import listed
from harness.model.runs import RunResult

_UNSEEN = "nodes_with_unseen_waits"
_MOST_NAMED = 5


def waits_not_seen(results: Sequence[RunResult]) -> tuple[str, ...]:
    """Return in a sentence on which arms no single wait could be seen, in scenarios in which another arm's were."""
    hidden = [result for result in results if result.measures.get(_UNSEEN)]
    cells = {(result.arm, result.scenario) for result in hidden}
    seen = {r.scenario for r in results if r.outcome.is_decided and (r.arm, r.scenario) not in cells}
    unlike = [result for result in hidden if result.scenario in seen]
    if not unlike:
        return ()
    arms = listed([*dict.fromkeys(each.arm for each in unlike)], _MOST_NAMED)
    scenarios = listed([*dict.fromkeys(each.scenario for each in unlike)], _MOST_NAMED)
    return (
        f"Single waits for a processor could not be seen for nodes of {arms} in {scenarios}, but could for other arms: "
        "the host may have caused what failed or took long there.",
    )
