"""What stands around every line of a log that something else carried: kubectl, the kubelet, docker, journald; pure.

It is taken off line by line, also those of stack traces, before anything else is read. A layout behind a carrier is
written `kubectl | [%d] %p %m (%c)%n`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

SEPARATOR = " | "
_UTC_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"
_MOST = 0.5  # of the lines, from which a log is taken to be carried


@dataclass(frozen=True, slots=True)
class Carrier:
    """Something that carries lines: `around` matches what it puts before each, or `field` has them in a JSON object."""

    around: str = ""
    field: str = ""

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Return the lines as they were written; one that was not carried stays as it is."""
        if self.around:
            return lines.str.replace(self.around, "")
        may_be = lines.str.contains(rf'^\{{.*"{self.field}"\s*:\s*".*\}}\s*$')
        inner = pl.when(may_be).then(pl.lit(lines)).str.json_path_match(f"$.{self.field}").str.strip_chars_end("\r\n")
        return pl.select(pl.coalesce(inner, pl.lit(lines))).to_series()


CARRIERS: Mapping[str, Carrier] = {
    # kubectl logs --timestamps, --prefix; docker logs --timestamps
    "kubectl": Carrier(rf"^(?:\[pod/[^\]]+\] (?:{_UTC_TIME} )?|{_UTC_TIME} )"),
    # the files below /var/log/pods
    "kubelet": Carrier(rf"^{_UTC_TIME} (?:stdout|stderr) [FP] "),
    # journalctl, its short formats, and syslog
    "journald": Carrier(
        rf"^(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|{_UTC_TIME}) \S+ [^\s\[\]:]+(?:\[\d+\])?: "
    ),
    "compose": Carrier(r"^[\w.-]+ +\| "),
    "docker": Carrier(field="log"),
    "journal": Carrier(field="MESSAGE"),
}


def carried_by(lines: pl.Series) -> tuple[str, ...]:
    """Return the carriers that most of the lines may have come by."""
    most = _MOST * len(lines)
    return tuple(name for name, each in CARRIERS.items() if (each.unwrapped(lines) != lines).sum() > most)


def split_carrier(pattern: str) -> tuple[str, str]:
    """Return the carrier that a pattern names, empty for none, and the pattern itself."""
    name, found, rest = pattern.partition(SEPARATOR)
    return (name, rest) if found and name in CARRIERS else ("", pattern)
