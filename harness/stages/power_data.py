"""What suites were seen to notice: builds/power, a file for each release line and suite."""

from __future__ import annotations

from pathlib import Path

from harness.base.paths import data_root
from harness.base.recordfile import RecordFile
from harness.kafka.release_lines import same_line
from harness.model.declaration import Declaration
from harness.model.power import SCHEMA, Power
from harness.model.request import Request, suite_of
from harness.stages.rules_digest import judging_digest, making_digest

_UNKNOWN = "The smallest defect that this suite would have noticed is not known"


def power_file(path: Path) -> RecordFile[Power]:
    """Return a file that holds a measurement."""
    return RecordFile(path, Power, schema=SCHEMA, remedy="Measure it again: harness power")


def known_power(declaration: Declaration, request: Request | None) -> Power | None:
    """Return what the suite of a verification was seen to notice on this release line, with its JVM settings.

    What was measured by today's rules goes before what earlier ones were in force for, and of those the newest. None
    where that was not measured, or where nobody knows the request.
    """
    if request is None:
        return None
    asked = suite_of(request, of_series=declaration.is_held_to_series), request.profile
    measured = (power_file(path).read() for path in sorted((data_root() / "builds" / "power").glob("*.json")))
    of_line = (each for each in measured if same_line(each.kafka_version, declaration.kafka_version))
    fitting = (each for each in of_line if (each.suite, each.profile) == asked)
    return max(fitting, key=lambda each: (not _changed_since(each), each.measured_at), default=None)


def why_unknown(power: Power | None) -> str:
    """Return in a sentence why nobody knows what a suite notices by today's rules; empty where that is known."""
    if power is None:
        return f"{_UNKNOWN}: it was not measured for this release line and these JVM settings (`harness power`)."
    if _changed_since(power):
        return f"{_UNKNOWN} by today's rules: it was {when_measured(power)}. `harness power` measures it again."
    return ""


def when_measured(power: Power | None) -> str:
    """Return the day of a measurement, and which rules have changed since: earlier ones may have noticed more."""
    if power is None:
        return ""
    changed = _changed_since(power)
    return f"measured on {power.measured_at[:10]}{f', by earlier rules of {changed}' if changed else ''}"


def _changed_since(power: Power) -> str:
    """Return which rules are others than a measurement was made by; empty where none are."""
    rules = (("running", power.making, making_digest()), ("judging", power.judging, judging_digest()))
    return " and ".join(name for name, then, now in rules if then != now)
