"""The smallest defect of each kind that a suite notices, found by planting it in growing sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime

from harness.base.errors import HarnessError
from harness.model.detection import Detection, Expected, Part
from harness.model.power import SCHEMA, Noticed, Power
from harness.model.request import DEFAULT_KAFKA, suite_of
from harness.stages.detecting import Detector
from harness.stages.detection_table import cell
from harness.stages.growing import Growing
from harness.stages.mutants import BUILD, Workshop, detect_one
from harness.stages.power_data import power_file
from harness.stages.rules_digest import judging_digest, making_digest

RESULTS = "power.json"


def measure(kinds: Sequence[Growing], workshop: Workshop, times: int) -> Power:
    """Find the smallest noticed size of each kind, by live clusters alone, and write power.json after each, with what
    earlier calls measured of other kinds by the same rules.

    A size is noticed when each of `times` verifications ends with HOLD; one that is not decided has not noticed it.
    Raises HarnessError when a jar in which nothing is wrong is held back.
    """
    detector = workshop.detector(workshop.control(), tuple(Part))
    before = _measured_before(kinds, workshop, detector)
    power = _write(workshop, detector, before, ())
    found: list[tuple[Growing, Mapping[int, Detection]]] = []
    for kind in kinds:
        found.append((kind, _ask(kind, workshop, detector, times)))
        power = _write(workshop, detector, before, tuple(found), times)
    return power


def next_to_ask(sizes: int, noticed: Mapping[int, bool]) -> int | None:
    """Return which of so many sizes to ask next, or None when the smallest noticed one is known; pure.

    It lies halfway between the largest one that was missed and the smallest larger one that was noticed.
    """
    low, high = bounds(sizes, noticed)
    return None if high - low <= 1 else (low + high) // 2


def bounds(sizes: int, noticed: Mapping[int, bool]) -> tuple[int, int]:
    """Return the largest missed size and the smallest noticed one above it; -1 and `sizes` where there is none."""
    low = max((size for size, was in noticed.items() if not was), default=-1)
    return low, min((size for size, was in noticed.items() if was and size > low), default=sizes)


def curve(power: Power) -> str:
    """Return the measurement as a Markdown table; pure."""
    rows = [
        f"| {each.kind} | {cell(each.defect)} | {cell(each.missed) or 'none asked'} | {_place(each)} | {each.times} |"
        for each in power.noticed
    ]
    head = ("| kind | smallest noticed | largest missed | by | times |", "|---|---|---|---|---|")
    lost = [f"Never noticed: {', '.join(power.unnoticed)}."] if power.unnoticed else []
    return "\n".join((*head, *rows, *(["", *lost] if lost else []))) + "\n"


def _place(each: Noticed) -> str:
    return f"{each.stage} ({each.scenario})" if each.scenario else each.stage


def _ask(kind: Growing, workshop: Workshop, detector: Detector, times: int) -> Mapping[int, Detection]:
    asked: dict[int, Detection] = {}
    while (size := next_to_ask(len(kind.sizes), _was_noticed(asked))) is not None:
        workshop.reporter.stage(kind.named(kind.sizes[size]))
        asked[size] = _each_time(kind, kind.sizes[size], workshop, detector, times)
        workshop.reporter.report(_told(asked[size]))
    return asked


def _told(found: Detection) -> str:
    if found.undecided:
        return f"not decided: {found.undecided}"
    return "noticed" if found.caught else "not noticed"


def _each_time(kind: Growing, size: float, workshop: Workshop, detector: Detector, times: int) -> Detection:
    """Return the first detection of a size that is none, or the last of all.

    Raises HarnessError for a template that does not compile: nothing was planted.
    """
    patch = kind.write_patch(size, workshop.out / "patches")
    expected = Expected(kind.named(size), kind.by, kind.scenario)
    for time in range(1, times + 1):
        found = detect_one(
            Detection(f"{kind.kind}-{size:g}-{time}", kind.named(size), expected), patch, workshop, detector
        )
        if not found.caught:
            break
        if found.caught[0].stage == BUILD:
            raise HarnessError(f"{kind.named(size)} does not compile: {found.caught[0].said}", f"Mend {patch.path}.")
    return found


def _was_noticed(asked: Mapping[int, Detection]) -> Mapping[int, bool]:
    return {size: bool(found.caught) for size, found in asked.items()}


def _measured_before(kinds: Sequence[Growing], workshop: Workshop, detector: Detector) -> Power:
    """Return what is in power.json of other kinds, measured of the same suite by the same rules; else nothing."""
    now = _nothing_yet(workshop, detector)
    before = power_file(workshop.out / RESULTS).read_if_exists()
    if before is None or replace(before, measured_at=now.measured_at, noticed=(), unnoticed=()) != now:
        return now
    asked = {kind.kind for kind in kinds}
    named = {kind.named(size) for kind in kinds for size in kind.sizes}
    return replace(
        before,
        noticed=tuple(each for each in before.noticed if each.kind not in asked),
        unnoticed=tuple(each for each in before.unnoticed if each not in named),
    )


def _nothing_yet(workshop: Workshop, detector: Detector) -> Power:
    declaration = detector.base.directory.declaration.read()
    return Power(
        schema=SCHEMA,
        kafka_version=workshop.request.kafka_version or DEFAULT_KAFKA,
        suite=suite_of(workshop.request, of_series=declaration.is_held_to_series),
        profile=workshop.request.profile,
        scenarios=tuple(scenario.name for scenario in declaration.scenarios),
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        making=making_digest(),
        judging=judging_digest(),
    )


def _write(
    workshop: Workshop,
    detector: Detector,
    before: Power,
    found: Sequence[tuple[Growing, Mapping[int, Detection]]],
    times: int = 1,
) -> Power:
    noticed = [each for kind, asked in found if (each := _noticed(kind, asked, times))]
    power = replace(
        _nothing_yet(workshop, detector),
        noticed=(*before.noticed, *noticed),
        unnoticed=(*before.unnoticed, *_unnoticed(found, {each.kind for each in noticed})),
    )
    power_file(workshop.out / RESULTS).write(power)
    return power


def _unnoticed(found: Sequence[tuple[Growing, Mapping[int, Detection]]], noticed: Set[str]) -> Iterator[str]:
    """Yield the largest defect of each kind that was decided and never noticed."""
    for kind, asked in found:
        missed = [size for size, each in asked.items() if not each.caught and not each.undecided]
        if kind.kind not in noticed and missed:
            yield kind.named(kind.sizes[max(missed)])


def _noticed(kind: Growing, asked: Mapping[int, Detection], times: int) -> Noticed | None:
    low, high = bounds(len(kind.sizes), _was_noticed(asked))
    if high == len(kind.sizes):
        return None
    caught = asked[high].caught[0]
    missed = kind.named(kind.sizes[low]) if low >= 0 else ""
    return Noticed(kind.kind, kind.named(kind.sizes[high]), caught.stage, caught.scenario, missed, times)
