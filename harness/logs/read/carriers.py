"""What stands around every line of a log that something else carried: kubectl, the kubelet, docker, journald; pure.

It is taken off line by line, also those of stack traces, before anything else is read. A layout behind a carrier is
written `kubectl | [%d] %p %m (%c)%n`. Events that are JSON objects (`json_events`) count as carried in Kafka's default
layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from harness.logs.read.json_events import JsonEvents

SEPARATOR = " | "
JSON = "json"
_UTC_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"
_ESCAPE = "\x1b["
_COLOUR = r"\x1b\[[0-?]*[ -/]*[@-~]"  # and whatever else a terminal is told so


class Carrier(Protocol):
    """Something that carries lines."""

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Return the lines as they were written; one that was not carried stays as it is."""


@dataclass(frozen=True, slots=True)
class PrefixCarrier:
    """One that puts something before each line, which `prefix` matches."""

    prefix: str

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Take the prefix away."""
        return lines.str.replace(self.prefix, "")


@dataclass(frozen=True, slots=True)
class JsonCarrier:
    """One that puts each line into a field of a JSON object."""

    field: str

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Take the field's value."""
        may_be = lines.str.contains(rf'^\{{.*"{self.field}"\s*:\s*".*\}}\s*$')
        inner = pl.when(may_be).then(pl.lit(lines)).str.json_path_match(f"$.{self.field}").str.strip_chars_end("\r\n")
        return pl.select(pl.coalesce(inner, pl.lit(lines))).to_series()


CARRIERS: Mapping[str, Carrier] = {
    # kubectl logs --timestamps, --prefix; docker logs --timestamps
    "kubectl": PrefixCarrier(rf"^(?:\[pod/[^\]]+\] (?:{_UTC_TIME} )?|{_UTC_TIME} )"),
    # the files below /var/log/pods
    "kubelet": PrefixCarrier(rf"^{_UTC_TIME} (?:stdout|stderr) [FP] "),
    # journalctl, its short formats, and syslog
    "journald": PrefixCarrier(
        rf"^(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|{_UTC_TIME}) \S+ [^\s\[\]:]+(?:\[\d+\])?: "
    ),
    "compose": PrefixCarrier(r"^[\w.-]+ +\| "),
    "docker": JsonCarrier("log"),
    "journal": JsonCarrier("MESSAGE"),
    JSON: JsonEvents(),
}


def uncoloured(lines: pl.Series) -> pl.Series:
    """Return lines without what tells a terminal their colours."""
    is_coloured = lines.str.contains(_ESCAPE, literal=True).any()
    return lines.str.replace_all(_COLOUR, "") if is_coloured else lines


def carried_by(lines: pl.Series) -> tuple[str, ...]:
    """Return the carriers that some of the lines may have come by."""
    plain = uncoloured(lines)
    return tuple(name for name, each in CARRIERS.items() if (each.unwrapped(plain) != plain).any())


def split_carrier(pattern: str) -> tuple[str, str]:
    """Return the carrier that a pattern names, empty for none, and the pattern itself."""
    name, found, rest = pattern.partition(SEPARATOR)
    return (name, rest) if found and name in CARRIERS else ("", pattern)
