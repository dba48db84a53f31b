"""A request as the words of a command line, so that each verification of a night can be asked again by hand; pure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.model.request import Request

# Options of `harness verify`, in the order of its help, and the fields of a Request that they set.
_OPTIONS = (
    ("--jar", "jar"),
    ("--base-jar", "base_jar"),
    ("--base-dist", "base_dist"),
    ("--git", "git"),
    ("--claims", "claims"),
    ("--sources", "sources"),
    ("--tests", "tests"),
    ("--waivers", "waivers"),
    ("--config", "config"),
    ("--suite", "suite"),
    ("--repeats", "repeats"),
    ("--jobs", "jobs"),
    ("--java-home", "java_home"),
    ("--builder", "builder"),
    ("--profile", "profile"),
    ("--kafka", "kafka_version"),
)


def words_of(request: Request) -> tuple[str, ...]:
    """Return the words after `harness verify` that mean this request."""
    return tuple(_words(request))


def _words(request: Request) -> Iterator[str]:
    unsaid = Request()
    for option, field in _OPTIONS:
        value = getattr(request, field)
        if value != getattr(unsaid, field):
            yield from (option, _short(value) if isinstance(value, Path) else str(value))
    if request.arms:
        yield from ("--arms", ",".join(request.arms))
    for scenario in request.scenarios:
        yield from ("--scenario", scenario)
    if not request.coverage:
        yield "--no-coverage"
    if request.offline:
        yield "--offline"


def _short(path: Path) -> str:
    """Return a path as it is best typed: relative where it lies below the working folder."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path.absolute())
