"""What sources say of Kafka's releases, beside what their nodes showed. For `benchmarks/versions.py`.

A prediction is a row: what it says and why, which releases it is about, what is looked at, and whether it held.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pages import markdown
from versions_releases import (
    BASE,
    CUT_SHARE,
    LOST,
    LOST_SHARE,
    NOTHING,
    Release,
    as_base,
    listed,
    numbers,
    outcome,
    spread,
)

from harness.judge.costs.limits import limit_of, shipped_limits

_STALE = "bootstrap servers are those of the configuration for ever (`RequestManager`, KIP-853)"


@dataclass(frozen=True)
class Prediction:
    """What is said of the releases that it is `about`, by their version's numbers.

    What a release has `shown`, and whether the prediction `holds` there (None where it was not asked), is made of the
    release and of 3.9.1.
    """

    says: str
    because: str
    shown: Callable[[Release, Release], str]
    holds: Callable[[Release, Release], bool | None]
    about: Callable[[tuple[int, ...]], bool] = lambda _: True


def ending(
    labels: Mapping[str, str],
    says: str,
    because: str,
    about: Callable[[tuple[int, ...]], bool] = lambda _: True,
) -> Prediction:
    """Return the prediction that scenarios end so, by their names."""

    def shown(release: Release, _: Release) -> str:
        ends = {each: outcome(release.labels(each)) for each in labels}
        return next(iter(ends.values())) if len(ends) == 1 else ", ".join(map(" ".join, ends.items()))

    def holds(release: Release, _: Release) -> bool | None:
        decided = {each: release.decided(each) for each in labels if release.decided(each)}
        return all(ends == {labels[each]} for each, ends in decided.items()) if decided else None

    return Prediction(says, because, shown, holds, about)


def waits(shares: Callable[[Release], Mapping[str, float]], figure: str) -> Callable[[Release], bool | None]:
    """Return whether a release takes no more of a core than the figure's limit has over it; None without figures."""
    limit = limit_of(figure, shipped_limits())
    assert limit, "the figure has a limit"
    return lambda release: max(shares(release).values()) <= limit[0].least if shares(release) else None


lost_waits = waits(lambda release: release.lost_shares, LOST_SHARE)
cut_waits = waits(lambda release: release.cut_shares, CUT_SHARE)


def opposite(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def no_more_elections(release: Release, base: Release) -> bool | None:
    mine, its = (each.figures("elections_per_fault").values() for each in (release, base))
    return max(mine) <= max(its) if mine and its else None


PREDICTIONS = (
    ending(
        {"turn1": "PASSED"},
        "turn1 passes on every release",
        "an address that is still right is left, without any fix",
    ),
    ending({"turn2": LOST}, "turn2 loses the observer on every release", _STALE),
    ending({"new-mechanism": LOST}, "so does new-mechanism", _STALE),
    ending(
        {"observer-held": "FAILED(observer_follows_after_pause)", "observer-cut": LOST},
        "up to 4.1 an observer that stood still, or was cut off, does not find its leader again",
        "past its fetch time-out it asks bootstrap servers alone (`pollFollowerAsObserver`)",
        lambda version: version < (4, 2),
    ),
    ending(
        {"observer-held": "PASSED", "observer-cut": "PASSED"},
        "from 4.2 on it does",
        "it asks the leader that it knew as well (KAFKA-19354)",
        lambda version: version >= (4, 2),
    ),
    ending(
        {"unregistered-endpoint": "FAILED(endpoint_is_registered)"},
        "up to 4.0 a voter that moved stays in the voter set with its old address",
        "UpdateRaftVoter waits for a moment without a request to the leader, and a Fetch nearly always is one",
        lambda version: version < (4, 1),
    ),
    ending(
        {"unregistered-endpoint": "PASSED"},
        "from 4.1 on it gets its new one told",
        "KAFKA-16538",
        lambda version: version >= (4, 1),
    ),
    Prediction(
        "an observer that was told of an epoch without a leader waits between its tries",
        "the leader of these two stops in good order, and answers with the next epoch once it is voted out: "
        "`pollUnattachedCommon`",
        lambda release, _: listed(release.lost_shares),
        lambda release, _: lost_waits(release),
    ),
    Prediction(
        "up to 4.1 so does one that hears nothing any more",
        "`pollFollowerAsObserver` waits for its bootstrap servers' back-off",
        lambda release, _: listed(release.cut_shares),
        lambda release, _: cut_waits(release),
        lambda version: version < (4, 2),
    ),
    Prediction(
        "from 4.2 on that one asks in a busy loop",
        "`maybeSendFetchToBestNode` (KAFKA-19354) waits for `min(backoff, remainingFetchTimeMs)`, 0 once that is over",
        lambda release, _: listed(release.cut_shares),
        lambda release, _: opposite(cut_waits(release)),
        lambda version: version >= (4, 2),
    ),
    Prediction(
        f"3.9.0 and 3.9.2 end every scenario as {BASE} does",
        "raft in 3.9.2 has another election back-off (KAFKA-18345), in 3.9.0 another interface to its log",
        lambda release, base: f"{len(as_base(release, base))} of {len(release.scenarios)} scenarios",
        lambda release, base: len(as_base(release, base)) == len(release.scenarios),
        lambda version: version < (3, 10) and version != numbers(BASE),
    ),
    Prediction(
        f"from 4.0 on a fault takes no more elections than on {BASE}",
        "pre-vote: who would be a candidate asks before it raises the epoch (KIP-996)",
        lambda release, _: spread(release.figures("elections_per_fault")),
        no_more_elections,
        lambda version: version >= (4, 0),
    ),
)


def predictions(releases: Sequence[Release]) -> str:
    """Return the table of predictions: what was measured of the releases that each is about."""
    base = next(release for release in releases if release.version == BASE)
    rows = [
        (each.says, each.because, *_measured(each, [r for r in releases if each.about(numbers(r.version))], base))
        for each in PREDICTIONS
    ]
    return markdown(("predicted", "because", "measured", "as predicted"), rows)


def _measured(prediction: Prediction, releases: Sequence[Release], base: Release) -> tuple[str, str]:
    """Return what releases showed, those that showed the same together, and on which it was as predicted."""
    shown, answers = defaultdict(list), defaultdict(list)
    for release in releases:
        shown[prediction.shown(release, base)].append(release.version)
        answers[prediction.holds(release, base)].append(release.version)
    words = {True: "yes", False: "**no**", None: "not asked"}
    measured = "; ".join(f"{', '.join(versions)}: {what}" for what, versions in shown.items())
    answered = "; ".join(f"{words[answer]}: {', '.join(versions)}" for answer, versions in answers.items())
    return measured or NOTHING, answered or "not asked"
