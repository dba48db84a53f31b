"""What starts of two Kafkas cost, side by side; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from harness.model.kafka_inventory import Boot
from harness.model.operator_changes import BOOTS, Area, Change, Figure, Weight

_APART = 1.2  # between the nearest boots of the two; a host that is busy meanwhile slows both
_FIGURES = {
    "ready_seconds": ("start until clients are served", "s"),
    "ready_cpu_seconds": ("processor time of the start", "s"),
    "idle_cpu_per_minute": ("processor time a minute when idle", "s"),
    "live_heap_mb": ("live heap", "MB"),
    "resident_mb": ("resident memory", "MB"),
    "threads": ("threads", ""),
}


def figures_of(base: Sequence[Boot], candidate: Sequence[Boot]) -> tuple[Figure, ...]:
    """Return each figure of all boots; none where a Kafka was not started."""
    if not base or not candidate:
        return ()
    return tuple(
        _figure(name, unit, *(tuple(float(getattr(boot, field)) for boot in boots) for boots in (base, candidate)))
        for field, (name, unit) in _FIGURES.items()
    )


def _figure(name: str, unit: str, base: tuple[float, ...], candidate: tuple[float, ...]) -> Figure:
    enough = min(len(base), len(candidate)) >= BOOTS
    apart = min(candidate) > _APART * max(base) or min(base) > _APART * max(candidate)
    return Figure(name, unit, base, candidate, enough and apart)


def figure_changes(figures: Sequence[Figure]) -> Iterator[Change]:
    """Return the figures that lie apart."""
    for each in figures:
        if each.apart:
            old, new = median(each.base), median(each.candidate)
            times = f"{new / old:.1f} times" if old else "more than"
            means = f"{times} what it was: look at limits and probes that were set by it."
            said = f"{old:.1f} {each.unit}".strip(), f"{new:.1f} {each.unit}".strip()
            yield Change(Area.FIGURES, Weight.CHANGES, each.name, "a single node", *said, means, 5)
