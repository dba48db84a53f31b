"""Masked templates: a message with its numbers, addresses, ids and paths replaced by names for them.

Each mask is one regular expression, applied in order to the whole message, so a template depends on nothing but
the message itself: not on other messages, their order or how Spark split the file. Words are never masked:
`Leader` and `Follower`, `true` and `false`, `-1` and `1` stay different. What each mask takes, and what is known
to slip through, is described in docs/log-diff.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class Mask:
    """Replaces what `regex` (Rust syntax) matches; `replacement` may name groups as `${1}`."""

    name: str
    regex: str
    replacement: str


_IPV4 = r"\b\d{1,3}(?:\.\d{1,3}){3}\b"
_IPV6 = r"\b(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}\b|::[0-9]\b|\[[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:]*\]"
_IP = rf"(?:{_IPV4}|{_IPV6})"
_NAME = r"\b[A-Za-z0-9_][\w.-]*"
_HOST = rf"(?:{_IP}|{_NAME})"
_PORT = r":\d+\b"
_B64 = "[A-Za-z0-9_-]"


def _kafka_uuid() -> str:
    """Return a regex for Kafka's 22 character ids that leaves 22 letter words alone.

    16 bytes in URL-safe base64 end in A, Q, g or w and never begin with a hyphen (Kafka draws again). What
    distinguishes `Zk9TwPbURzWQ3kSmBo3rKQ` from a class name is that somewhere a letter is followed by a digit, or case
    changes as in no CamelCase name (`bUR`, `PbU`): true of all but about one in five thousand random ids.
    """
    odd = ("[A-Za-z][0-9]", "[0-9][A-Za-z]", "[a-z][A-Z][A-Z]", "[A-Z][a-z][A-Z]", "[A-Z][_-][a-z]")
    widths = (2, 2, 3, 3, 3)
    first = "[A-Za-z0-9_]"
    alternatives = [
        (rf"{first}{_B64}{{{at - 1}}}" if at else "") + rf"{look}{_B64}{{{21 - at - width}}}"
        for look, width in zip(odd, widths, strict=True)
        for at in range(22 - width)
    ]
    return rf"\b(?:{'|'.join(alternatives)})[AQgw]\b"


def _upper_case_digest() -> str:
    """Return a regex for 8 or more upper-case hexadecimal digits: without a number among them it may be a constant."""
    early = [rf"[A-F]{{{at}}}[0-9][0-9A-F]{{{7 - at},}}" for at in range(7)]
    return "|".join([*early, "[A-F]{7,}[0-9][0-9A-F]*"])


# `5.3s` and `PT1.5S`, by what is left of them then.
_DECIMAL = r"(?:<n>|ⁿ)(?:\.(?:<n>|ⁿ))*\.ⁿ"

_DAY, _MONTH = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)", "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"

# Order matters: an address goes before the numbers it is made of, hexadecimal after plain numbers. So that a
# template is its own template, no mask matches a part of a word, and a number that is one leaves a letter (`ⁿ`).
MASKS = (
    # As java.util.Date writes a time: day and zone are words.
    Mask("date", rf"\b{_DAY} {_MONTH} \d\d \d\d:\d\d:\d\d [A-Z][\w:+-]* \d{{4}}\b", "<n>"),
    Mask("uuid", r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<uuid>"),
    Mask("Kafka uuid", _kafka_uuid(), "<uuid>"),
    Mask("listener", rf"://{_HOST}?{_PORT}", "://<addr>"),
    Mask("voter", rf"(\d)@{_HOST}{_PORT}", "${1}@<addr>"),
    Mask("node", rf"{_HOST}{_PORT} \(id: ", "<addr> (id: "),
    Mask("unresolved", rf"{_NAME}/<unresolved>{_PORT}", "<addr>"),
    Mask("resolved", rf"(?:{_NAME})?/{_IP}(?:{_PORT})?", "<addr>"),
    Mask("ip", rf"{_IP}(?:{_PORT})?", "<addr>"),
    Mask("localhost", rf"\blocalhost{_PORT}", "<addr>"),
    Mask("path", r"""(^|[\s=\[({'",:])/[\w.+@%~-]+(?:/[\w.+@%~-]+)+/?""", "${1}<path>"),
    Mask("identity hash", r"@[0-9a-f]{1,16}\b", "@<hash>"),
    Mask("hexadecimal", r"\b[0-9]x[0-9a-fA-F]+\b", "<n>"),
    Mask("number", r"\b\d+(?:\.\d+)*(?:[eE][-+]?\d+)?\b", "<n>"),
    Mask("digest", rf"\b(?:[0-9a-f]{{8,}}|{_upper_case_digest()})\b", "<n>"),
    Mask("number in a word", r"\d+", "ⁿ"),
    Mask("decimal in a word", _DECIMAL, "ⁿ"),
    Mask("list of numbers", r"<n>(?:, ?<n>)+", "<n>, …"),
)


def template(message: pl.Expr) -> pl.Expr:
    """Return the template of each message."""
    for mask in MASKS:
        message = message.str.replace_all(mask.regex, mask.replacement)
    return message


def template_of(message: str) -> str:
    """Return the template of one message."""
    return str(pl.select(template(pl.lit(message))).item())


def masked_again(known: str) -> str:
    """Return a template, or a part of one, that older masks made, as today's masks would have made it."""
    if " <n>:<n>:<n> " in known:
        known = re.sub(rf"\b{_DAY} {_MONTH} <n> <n>:<n>:<n> [A-Z][\w:+-]* <n>", "<n>", known)
    if "ⁿ" not in known and "<hex>" not in known:
        return known
    return re.sub(_DECIMAL, "ⁿ", known.replace("<hex>", "<n>"))
