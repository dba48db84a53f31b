"""What suites were seen to notice: builds/power, a file for each release line and suite."""

from __future__ import annotations

from pathlib import Path

from harness.base.paths import data_root
from harness.base.recordfile import RecordFile
from harness.kafka.release_lines import same_line
from harness.model.power import SCHEMA, Power
from harness.model.request import Request


def power_file(path: Path) -> RecordFile[Power]:
    """Return a file that holds a measurement."""
    return RecordFile(path, Power, schema=SCHEMA, remedy="Measure it again: harness power")


def known_power(request: Request | None, version: str) -> Power | None:
    """Return what the suite of a request was seen to notice on this release line, with its JVM settings.

    None where that was not measured, or where nobody knows the request.
    """
    if request is None:
        return None
    files = sorted((data_root() / "builds" / "power").glob(f"*-{request.suite}.json"))
    measured = (power_file(path).read() for path in files)
    return next((each for each in measured if _is_of(each, request, version)), None)


def _is_of(power: Power, request: Request, version: str) -> bool:
    asked = (power.suite, power.profile) == (request.suite, request.profile)
    return asked and same_line(power.kafka_version, version)
