"""A user's server properties against what Kafka knows: slips and values that it refuses are refused here; pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import SequenceMatcher

from harness.base.errors import HarnessError
from harness.base.text import cut
from harness.building.configdef import ConfigKey
from harness.kafka.validators import range_of

# What follows these is for a listener or a plugin to know.
_FREE = ("listener.name.", "config.providers.", "rsm.config.", "rlmm.config.")
_BITS = {"SHORT": 16, "INT": 32, "LONG": 64}  # of ConfigDef.Type
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_MOST_SHOWN = 40
_ALIKE = 0.75  # of two words, from which one is taken for a slip of the other: hourz, hours


def check_keys(keys: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Return a sentence about each key that Kafka does not know, which it hands to plugins and otherwise ignores.

    Raises HarnessError for those that read like a known key: what they were to set would not be set.
    """
    strange = sorted(key for key in keys if key not in known and not key.startswith(_FREE))
    meant = {key: found for key in strange if (found := _meant(key, known))}
    if meant:
        slips = ", ".join(f"{key} (did you mean {found}?)" for key, found in meant.items())
        raise HarnessError(f"--config sets what Kafka does not know: {slips}.", "Correct these keys or leave them out.")
    return tuple(f"--config: Kafka itself does not know {key}; only a plugin can use it" for key in strange)


def one_sided_keys(
    keys: Iterable[str], base: tuple[str, Collection[str]], candidate: tuple[str, Collection[str]]
) -> tuple[str, ...]:
    """Return a sentence about each key that one of two builds, given by name and keys, knows and the other ignores.

    Such a key was added or removed between their versions, so that it sets one arm alone.
    """
    sides = ((base, candidate), (candidate, base))
    return tuple(
        f"--config: {other} does not know {key}, which {one} does: only there it has an effect"
        for (one, known), (other, unknown) in sides
        for key in sorted(keys)
        if key in known and key not in unknown
    )


def check_values(overlay: Mapping[str, str], known: Mapping[str, ConfigKey]) -> None:
    """Raise HarnessError for values with which no node would start: no number, none in the key's range, no boolean."""
    wrong = (
        f"{key} = {cut(value, _MOST_SHOWN)} {why}"
        for key, value in overlay.items()
        if key in known and "${" not in value and (why := _why_refused(known[key], value.strip()))
    )
    if said := "; ".join(wrong):
        raise HarnessError(f"--config sets what Kafka refuses: {said}.", "Correct these values.")


def _why_refused(key: ConfigKey, value: str) -> str:
    if key.type in _BITS:
        most = 2 ** (_BITS[key.type] - 1)
        if not _WHOLE.fullmatch(value) or not -most <= int(value) < most:
            return f"is no {key.type}"
    elif key.type == "DOUBLE":
        try:
            float(value)
        except ValueError:
            return "is no number"
    elif key.type == "BOOLEAN":
        return "" if value.lower() in ("true", "false") else "is neither true nor false"
    else:
        return ""
    bounds = range_of(key.validator)
    return "" if bounds is None or bounds[0] <= float(value) <= bounds[1] else f"is not in {key.validator}"


def _meant(key: str, known: Collection[str]) -> str:
    """Return the known key that another one is a slip of, word by word; empty for none."""
    alike = [each for each in known if _letters(each) == _letters(key) or _is_slip(key.split("."), each.split("."))]
    return max(alike, key=lambda each: (_likeness(each, key), each), default="")


def _is_slip(words: list[str], meant: list[str]) -> bool:
    """Whether every word is that of another key or like it; `min` is no slip of `max`."""
    return len(words) == len(meant) and all(
        sorted(word) == sorted(other) or _likeness(word, other) >= _ALIKE
        for word, other in zip(words, meant, strict=True)
    )


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _letters(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())
