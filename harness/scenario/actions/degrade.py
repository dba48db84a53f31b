"""Making links bad, and good again: slow, narrow, or losing packets."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.errors import HarnessError
from harness.cluster.runtime.link_probes import LinkMeasure, Tries
from harness.cluster.runtime.links import Links, Quality
from harness.cluster.runtime.network import Pair
from harness.model.events import FaultChanged
from harness.scenario.bounds import seconds
from harness.scenario.link_proof import LEAST_LOSS, burst_for, flaw, rate_flaw, still_bad, still_narrow, tries_for
from harness.scenario.parties import Side, described, pairs_of
from harness.scenario.steps import Fault
from harness.scenario.verbs import action, fault
from harness.scenario.world import ActionFailed, World

_RATE = re.compile(r"(\d+(?:\.\d+)?)(kbit|mbit)")
_UNITS = {"kbit": 1e3, "mbit": 1e6}


@dataclass(frozen=True, slots=True)
class Degrade(Fault):
    """Make the links between two sides bad, in both directions alike."""

    one: Side
    other: Side
    quality: Quality

    @property
    def description(self) -> str:
        """The action as a clause."""
        quality = self.quality
        named = [
            f"{1000 * quality.delay:g} ms" if quality.delay else "",
            f"{100 * quality.loss:g} % lost" if quality.loss else "",
            f"{quality.bits_per_second / 1e6:g} Mbit/s" if quality.bits_per_second else "",
        ]
        links = f"between {described(self.one)} and {described(self.other)}"
        return f"make the link {links} bad ({', '.join(filter(None, named))})"

    def perform(self, world: World) -> None:
        """Make them bad, and measure each of them. Raises ActionFailed, HarnessError."""
        pairs, links = pairs_of(self.one, self.other, "both", world), world.links()
        world.write(FaultChanged("degrade", self.description, "begun", links=tuple(pairs)))
        began = time.monotonic()
        links.degrade(pairs, self.quality)
        took = round(time.monotonic() - began, 6)
        world.write(FaultChanged("degrade", self.description, "proved", took, self._proof(links, pairs)))

    def _proof(self, links: Links, pairs: Sequence[Pair]) -> str:
        """Return what probes saw. Raises ActionFailed where a link is better than it was made, or much worse."""
        quality, tries = self.quality, tries_for(self.quality)
        measures = links.round_trips(_one_way_each(pairs), tries)
        rates = links.rates(pairs, burst_for(quality)) if quality.bits_per_second else {}
        flaws = {pair: flaw(quality, measure, tries) for pair, measure in measures.items()}
        narrow = {pair: rate_flaw(quality, rate) for pair, rate in rates.items()}
        for (one, other), what in (*flaws.items(), *narrow.items()):
            if what:
                raise ActionFailed(f"the link from {one} to {other} is not as it was made: {what}")
        return "; ".join(_told(pair, measure, tries, rates) for pair, measure in measures.items())


@dataclass(frozen=True, slots=True)
class Mend:
    """Make links good again, between two sides or everywhere."""

    between: tuple[Side, Side] | None

    @property
    def description(self) -> str:
        """The action as a clause."""
        if self.between is None:
            return "make every link good again"
        one, other = self.between
        return f"make the link between {described(one)} and {described(other)} good again"

    def perform(self, world: World) -> None:
        """Let packets go the short way again, and measure each link. Raises ActionFailed, HarnessError."""
        links = world.links()
        pairs = pairs_of(*self.between, "both", world) if self.between else list(links.bad)
        bad = {pair: quality for pair, quality in links.bad.items() if pair in pairs}
        if not bad:
            raise ActionFailed("no link is bad there that could be made good")
        began = time.monotonic()
        links.mend(bad)
        took = round(time.monotonic() - began, 6)
        cuts = world.network().cuts
        proof = _sound_again(
            links, {pair: quality for pair, quality in bad.items() if not {pair, pair[::-1]} & {*cuts}}
        )
        world.write(FaultChanged("degrade", self.description, "ended", took, proof, links=tuple(bad)))


def _sound_again(links: Links, were: Mapping[Pair, Quality]) -> str:
    """Return what probes saw of links that were made good; nothing comes through one that is cut as well.

    Raises HarnessError where one is as bad as it was.
    """
    seen = []
    for quality in dict.fromkeys(were.values()):
        pairs = [pair for pair, its in were.items() if its == quality]
        there, tries = _one_way_each(pairs), tries_for(quality)
        measures = links.round_trips(there, tries)
        rates = links.rates(pairs, burst_for(quality)) if quality.bits_per_second else {}
        wrong = {pair: still_bad(quality, measure, tries) for pair, measure in measures.items()}
        wrong |= {pair: why for pair, rate in rates.items() if (why := still_narrow(quality, rate))}
        for (one, other), what in wrong.items():
            if what:
                raise HarnessError(f"The link from {one} to {other} was not made good: {what}.")
        seen += [_told(pair, measure, tries, rates) for pair, measure in measures.items()]
    return "; ".join(seen)


def _one_way_each(pairs: Sequence[Pair]) -> list[Pair]:
    """Return of each link one direction: what is sent on it comes back by the other."""
    return [pair for number, pair in enumerate(pairs) if pair[::-1] not in pairs[:number]]


def _told(pair: Pair, measure: LinkMeasure, tries: Tries, rates: Mapping[Pair, float]) -> str:
    rate = f", {rates[pair] / 1e6:.2f} Mbit/s" if pair in rates else ""
    seen = f"{1000 * measure.round_trip:.1f} ms in the median, {100 * measure.lost:.0f} % of {tries.count} lost"
    return f"from {pair[0]} to {pair[1]} and back: {seen}{rate}"


@fault
def degrade(
    one: Side, other: Side, *, delay: str = "0ms", loss: float = 0.0, bandwidth: str = "", seed: int = 0
) -> Degrade:
    """Make links bad: each packet so much later, such a share lost, so many bits a second (`3mbit`) each way.

    Which packets are lost follows from the seed, for each link and direction in its own way.
    """
    return Degrade(one, other, replace(_quality(delay, loss, bandwidth), seed=seed))


@action
def mend(one: Side | None = None, other: Side | None = None) -> Mend:
    """Make links good again that were made bad, between two sides or everywhere."""
    if (one is None) is not (other is None):
        raise ValueError("name both sides of a link, or none to mend every link")
    return Mend((one, other) if one is not None and other is not None else None)


def _quality(delay: str, loss: float, bandwidth: str) -> Quality:
    """Return the quality of a link as a plan states it. Raises ValueError."""
    rate = _RATE.fullmatch(bandwidth) if bandwidth else None
    if bandwidth and (rate is None or not float(rate[1])):
        raise ValueError(f"{bandwidth!r} is no bandwidth; write 3mbit or 500kbit")
    if not 0 <= loss < 1:
        raise ValueError(f"a loss of {loss} is no share of packets; write 0.1 for a tenth")
    if 0 < loss < LEAST_LOSS:
        raise ValueError(f"a loss of {loss} takes too long to be shown; write {LEAST_LOSS} or more")
    quality = Quality(seconds(delay), loss, float(rate[1]) * _UNITS[rate[2]] if rate else 0.0)
    if quality == Quality():
        raise ValueError("say how bad the link is: delay, loss or bandwidth")
    return quality
