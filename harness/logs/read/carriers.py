"""What stands around every line of a log that something else carried: kubectl, docker, journald, syslog …; pure.

It is taken off line by line, also those of stack traces, before anything else is read. A layout behind a carrier is
written `kubectl | [%d] %p %m (%c)%n`, behind several from the outermost on: `compose | kubectl | json | …`. What is in
no table is written as the expression that matches it, between slashes: `/^kafka\\-\\d+: / | [%d] %p %m (%c)%n`. Events
that are JSON objects (`json_events`) count as carried in Kafka's default layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from harness.logs.read.json_events import JsonEvents, PrettyObjects

SEPARATOR = " | "
JSON, PRETTY = "json", "pretty"
_GOES_ON = "\ufdd0"  # no character of any text: a line that its carrier tore goes on in the next
_MOST = 3  # carriers around each other
MOST_PIECES = 1000  # of a torn line, of 16 KiB each, or lines of an entry, that are waited for
_MOST_LINES, _NEARLY_ALL = 0.5, 0.9
_UTC_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"
_TIMES = "|".join(
    (
        r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?",  # short, short-precise
        _UTC_TIME,  # short-iso, short-iso-precise
        r"[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [A-Z+][\w+-]*",  # short-full, with-unit
        r"\d{9,}\.\d{6}",  # short-unix
        r"\[ *\d+\.\d{6}\]",  # short-monotonic
    )
)
_VERBOSE = rf"^(?:{_TIMES}) \[s=[^\]]*\]$"
_PRIORITY = r"<\d{1,3}>"
# What stands before the name of the host, that itself, and what stands after it.
JOURNALD_TIME, JOURNALD_HOST = rf"(?:{_PRIORITY})?(?:{_TIMES})", r"[^\s\[]*[^\s\[:]"
JOURNALD_TAG = r"[^\s\[\]:]+(?:\[\d+\])?"
SYSLOG_TIME = rf"(?:\d+ )?{_PRIORITY}1 (?:-|{_UTC_TIME})"
_STRUCTURED = r"""(?:-|(?:\[(?:[^\]"]|"(?:\\.|[^"\\])*")*\])+)"""
# An object of json-file, which alone has these keys and no more, and a newline at the end of each line.
_DOCKERS = r'^\{"log":.*"stream":\s*"std(?:out|err)",(?:\s*"attrs":\s*\{.*\},)?\s*"time":\s*"[^"]*"\}\s*$'
_WRITER = ("SYSLOG_IDENTIFIER", "_PID")  # journald's fields
_OF_JOURNAL = tuple(rf'"{name}"\s*:\s*"([^"]*)"' for name in _WRITER)
_IN_OCTAL = (("#011", "\t"), ("#033", "\x1b"))  # as rsyslog writes control characters
_ESCAPE = "\x1b["
_COLOUR = r"\x1b\[[0-?]*[ -/]*[@-~]"  # and whatever else a terminal is told so


class Carrier(Protocol):
    """Something that carries lines."""

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Return the lines as they were written: null for what is none, as it is for one that was not carried."""


@dataclass(frozen=True, slots=True)
class PrefixCarrier:
    """One that puts something before each line, which `prefix` matches, and writes some characters otherwise."""

    prefix: str
    escapes: tuple[tuple[str, str], ...] = ()
    torn: str = ""  # what matches a line that goes on in the next
    marks: str = ""  # what matches a line of its own, of which nobody wrote anything

    @property
    def writer(self) -> tuple[str, ...]:
        """The expression whose first group is who wrote a line, if the prefix says so."""
        return (self.prefix,) if "(?P<writer>" in self.prefix else ()

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Take the prefix away."""
        plain = lines.str.replace(self.prefix, "")
        if self.marks and (marks := lines.str.contains(self.marks).arg_true()).len():
            plain = plain.scatter(marks, None)
        for written, meant in self.escapes:
            if plain.str.contains(written, literal=True).any():
                plain = plain.str.replace_all(written, meant, literal=True)
        return _marked(plain, lines.str.contains(self.torn)) if self.torn else plain


@dataclass(frozen=True, slots=True)
class JsonCarrier:
    """One that puts each line into a field of a JSON object, as text or, with control characters, as bytes."""

    field: str
    torn: str = ""  # what matches an object whose line goes on in the next if nothing ends it
    writer: tuple[str, ...] = ()  # expressions whose first groups are together who wrote a line

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Take the field's value."""
        may_be = lines.str.contains(rf'^\{{.*"{self.field}"\s*:\s*["\[].*\}}\s*$')
        if not may_be.any():
            return lines
        value = pl.select(pl.when(may_be).then(pl.lit(lines)).str.json_path_match(f"$.{self.field}")).to_series()
        found = pl.select(pl.coalesce(value.str.strip_chars_end("\r\n"), lines)).to_series()
        torn = ~value.str.ends_with("\n")
        if self.torn and torn.any():
            found = _marked(found, torn & lines.str.contains(self.torn))
        is_array = lines.str.contains(rf'"{self.field}"\s*:\s*\[')
        is_bytes = is_array & found.str.contains(r"^\[(?:\d{1,3},)*\d{1,3}\]$") & (found != lines)
        if not is_bytes.any():
            return found
        texts = map(_of_bytes, found.filter(is_bytes))
        return found.scatter(is_bytes.arg_true(), pl.Series(texts, dtype=pl.String))


def _marked(lines: pl.Series, torn: pl.Series) -> pl.Series:
    """Return lines with a mark at the end of those that are torn."""
    return (
        pl.select(pl.when(torn.fill_null(value=False)).then(lines + _GOES_ON).otherwise(lines)).to_series()
        if torn.any()
        else lines
    )


def _of_bytes(numbers: str) -> str:
    values = list(map(int, numbers[1:-1].split(",")))
    return bytes(values).decode("utf-8", "replace") if max(values) < 256 else numbers


@dataclass(frozen=True, slots=True)
class FieldsCarrier:
    """One that makes each line of a log a block of fields, one a line: what follows `message` is what was logged."""

    entry: str  # what matches a line that begins or ends a block
    message: str
    other: str  # what else is no line of the log

    def unwrapped(self, lines: pl.Series) -> pl.Series:
        """Take the message; all else is none."""
        kept = pl.lit(lines.str.contains(self.message) | ~lines.str.contains(self.other))
        return pl.select(pl.when(kept).then(pl.lit(lines).str.replace(self.message, ""))).to_series()

    def writers(self, lines: pl.Series) -> list[pl.Series]:
        """Return the program and the process of each line, as any line of its block has them."""
        entry = lines.str.contains(self.entry).fill_null(value=False).cum_sum()
        fields = pl.DataFrame({name: lines.str.extract(f"^ *{name}=(.*)$") for name in _WRITER})
        return fields.select(pl.all().max().over(entry)).get_columns()

    def unfinished(self, lines: pl.Series) -> int:
        """Return how many lines at the end are of a block that may go on."""
        begun = lines.str.contains(self.entry).arg_true()
        return len(lines) - begun[-1] if len(begun) else 0


PRETTY_OBJECTS = PrettyObjects()
# Tried in this order; of fields that hold whole lines each goes before the objects that are events themselves.
CARRIERS: Mapping[str, Carrier] = {
    # kubectl logs --timestamps, --prefix; docker logs --timestamps
    "kubectl": PrefixCarrier(rf"^(?:\[pod/[^\]]+\] (?:{_UTC_TIME} )?|{_UTC_TIME} )"),
    # the files below /var/log/pods
    "kubelet": PrefixCarrier(rf"^{_UTC_TIME} (?:stdout|stderr) [FP] ", torn=r"^\S+ \S+ P "),
    # journalctl, its short formats, and syslog as RFC 3164 has it
    "journald": PrefixCarrier(
        rf"^{JOURNALD_TIME} (?P<writer>(?:{JOURNALD_HOST} )?{JOURNALD_TAG}): ",
        _IN_OCTAL,
        marks=r"^-- (?:.* --|cursor: .*)$",  # where a boot or the journal begins or ends
    ),
    # RFC 5424, also as RFC 6587 counts its bytes
    "syslog": PrefixCarrier(
        rf"^{SYSLOG_TIME} (?P<writer>\S+ \S+ \S+) \S+ {_STRUCTURED}(?: \x{{feff}}?|$)",
        _IN_OCTAL,
    ),
    "compose": PrefixCarrier(r"^[\w.-]+ +\| "),
    "sse": PrefixCarrier(r"^data: "),  # journalctl -o json-sse
    "export": FieldsCarrier(r"^(?:__CURSOR=.*)?$", r"^MESSAGE=", r"^(?:[A-Z0-9_]+=|$)"),  # journalctl -o export
    # journalctl -o verbose
    "verbose": FieldsCarrier(_VERBOSE, r"^ {4}MESSAGE=", rf"^ {{4}}[A-Z0-9_]+=|{_VERBOSE}"),
    # json-file, and Fluent Bit
    "docker": JsonCarrier("log", torn=_DOCKERS),
    "journal": JsonCarrier("MESSAGE", writer=_OF_JOURNAL),  # journalctl -o json
    "beats": JsonCarrier("message", writer=_OF_JOURNAL),  # Filebeat, Vector; CloudWatch's events
    "loki": JsonCarrier("line"),  # logcli -o jsonl
    "gcloud": JsonCarrier("textPayload"),
    JSON: JsonEvents(),
    PRETTY: PRETTY_OBJECTS,
}


def uncoloured(lines: pl.Series) -> pl.Series:
    """Return lines without what tells a terminal their colours."""
    is_coloured = lines.str.contains(_ESCAPE, literal=True).any()
    return lines.str.replace_all(_COLOUR, "") if is_coloured else lines


@dataclass(frozen=True, slots=True)
class Way:
    """Carriers around each other, outermost first, and lines without them."""

    carriers: tuple[str, ...]
    lines: pl.Series

    def written(self, pattern: str) -> str:
        """Return a pattern as that of a layout behind these carriers."""
        return SEPARATOR.join((*self.carriers, pattern))

    def without(self, carriers: Iterable[str]) -> Iterator[Way]:
        """Yield, for each of the carriers, the way on which that one further carried the lines."""
        mended = _mended(self.lines)
        for name in carriers:
            inner = PRETTY_OBJECTS.folded(mended) if name == PRETTY else uncoloured(_carrier(name).unwrapped(mended))
            yield Way((*self.carriers, name), inner)

    def is_carried(self, others: pl.Series) -> bool:
        """Say whether something carried nearly all of the lines too that begin no event: then it carried all."""
        mended = _mended(others)
        inner = (uncoloured(carrier.unwrapped(mended)).ne_missing(others) for carrier in CARRIERS.values())
        return len(others) > 0 and any(_share(changed) > _NEARLY_ALL for changed in inner)


def ways(lines: pl.Series) -> Iterator[Way]:
    """Yield what may have carried some of the lines, the fewest first: nothing, one carrier, several."""
    found = [Way((), uncoloured(lines))]
    for _ in range(_MOST + 1):
        yield from found
        found = [inner for way in found for inner in _within(way)]


def _within(way: Way) -> Iterator[Way]:
    if way.carriers[-1:] in ((JSON,), (PRETTY,)) or len(way.carriers) == _MOST:
        return
    for inner in way.without(CARRIERS):
        if inner.carriers[-1] == PRETTY:
            is_likely = len(inner.lines) > 0
        else:
            is_likely = _share(inner.lines.ne_missing(way.lines)) > _MOST_LINES
        if is_likely:
            yield inner


def _share(of_lines: pl.Series) -> float:
    return int(of_lines.sum()) / max(len(of_lines), 1)


def unwrapped(lines: pl.Series, carriers: Sequence[str]) -> pl.Series:
    """Return lines without colours and what carried them; null is what is no line of the log."""
    plain = uncoloured(lines)
    for name in carriers:
        plain = uncoloured(_carrier(name).unwrapped(_mended(plain)))
    return plain


def writers(lines: pl.Series, carriers: Sequence[str]) -> pl.Series | None:
    """Return who wrote each line, program and process, as the outermost carrier has it that says so; None if none does.

    Null is a line of which it is not said.
    """
    for at, carrier in enumerate(map(_carrier, carriers)):
        if isinstance(carrier, FieldsCarrier):
            return _named(carrier.writers(unwrapped(lines, carriers[:at])))
        if isinstance(carrier, PrefixCarrier | JsonCarrier) and carrier.writer:
            carried = unwrapped(lines, carriers[:at])
            return _named([carried.str.extract(expression) for expression in carrier.writer])
    return None


def _named(parts: Sequence[pl.Series]) -> pl.Series:
    """Return the parts of names as one, null where all lack."""
    known = pl.any_horizontal(pl.lit(part.is_not_null()) for part in parts)
    name = pl.concat_str(map(pl.lit, parts), separator=" ", ignore_nulls=True)
    return pl.select(pl.when(known).then(name)).to_series()


def _mended(lines: pl.Series) -> pl.Series:
    """Return torn lines as one, in the place of their first piece: what they carry can be read only so."""
    goes_on = lines.str.ends_with(_GOES_ON).fill_null(value=False)
    if not goes_on.any():
        return lines
    is_later = goes_on.shift(1, fill_value=False)
    pieces = pl.DataFrame({"piece": lines.str.strip_suffix(_GOES_ON), "line": (~is_later).cum_sum()})
    torn = pieces.filter(goes_on | is_later).group_by("line", maintain_order=True).agg(pl.col("piece").str.join())
    mended = lines.clone().scatter((goes_on & ~is_later).arg_true(), torn["piece"])
    return mended.scatter(is_later.arg_true(), None)


def held_back(lines: pl.Series, carriers: Sequence[str]) -> int:
    """Return how many lines at the end have to be read together with what follows them: an entry of several lines, or
    pieces of a torn line that something further carried.
    """
    for at, carrier in enumerate(map(_carrier, carriers)):
        if isinstance(carrier, FieldsCarrier):
            return carrier.unfinished(unwrapped(lines, carriers[:at]))
        if isinstance(carrier, PrefixCarrier | JsonCarrier) and carrier.torn and at < len(carriers) - 1:
            last = unwrapped(lines, carriers[: at + 1]).reverse()
            return int(last.str.ends_with(_GOES_ON).fill_null(value=False).cast(pl.Int8).cum_min().sum())
    return 0


def whole(texts: pl.Series, carriers: Sequence[str]) -> pl.Series:
    """Return whole events, lines joined, as they were written: torn lines are one again, objects are events."""
    if texts.str.contains(_GOES_ON, literal=True).any():
        texts = texts.str.replace_all(f"{_GOES_ON}\n?", "")
    return PRETTY_OBJECTS.whole(texts) if PRETTY in carriers else texts


def _carrier(name: str) -> Carrier:
    return CARRIERS.get(name) or PrefixCarrier(name[1:-1])


def split_carriers(pattern: str) -> tuple[tuple[str, ...], str]:
    """Return the carriers that a pattern names, and the pattern itself."""
    name, found, rest = pattern.partition(SEPARATOR)
    is_expression = len(name) > 2 and name.startswith("/") and name.endswith("/")
    if not found or not (name in CARRIERS or is_expression):
        return (), pattern
    others, plain = split_carriers(rest)
    return (name, *others), plain
