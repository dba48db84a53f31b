"""What two raft jars say is configurable, compared key by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.building.configdef import ConfigKey
from harness.model.proof import Difference
from harness.proof.dropin import rules


def compare_keys(
    base: Sequence[ConfigKey], candidate: Sequence[ConfigKey], flag: str, flag_default: str
) -> Iterator[Difference]:
    """Yield keys that are missing, new or declared otherwise.

    `flag` is the key that the claims name and `flag_default` its default as they say it; both empty without claims.
    """
    old, new = ({each.name: each for each in keys} for keys in (base, candidate))
    for name in sorted(old.keys() - new.keys()):
        yield rules.CONFIG_REMOVED.broken(name, f"the key {name} is no longer declared", _described(old[name]))
    for name in sorted(new.keys() - old.keys()):
        rule = rules.CONFIG_ADDED if name == flag else rules.CONFIG_UNCLAIMED
        yield rule.broken(name, f"the key {name} is new: {_described(new[name])}", "", _described(new[name]))
    for name in sorted(old.keys() & new.keys()):
        yield from _compare(old[name], new[name])
    if flag in new and new[flag].default != flag_default:
        detail = f"{flag} is {new[flag].default or 'without a default'}; the claims say {flag_default}"
        yield rules.DEFAULT_CHANGED.broken(flag, detail, flag_default, new[flag].default)


def _compare(old: ConfigKey, new: ConfigKey) -> Iterator[Difference]:
    for rule, part, before, after in (
        (rules.DEFAULT_CHANGED, "default", old.default, new.default),
        (rules.CONFIG_CHANGED, "type", old.type, new.type),
        (rules.CONFIG_CHANGED, "validator", old.validator, new.validator),
        (rules.IMPORTANCE_CHANGED, "importance", old.importance, new.importance),
    ):
        if before != after:
            detail = f"the {part} of {old.name} is {after or 'none'}, was {before or 'none'}"
            yield rule.broken(old.name, detail, before, after)


def _described(key: ConfigKey) -> str:
    validated = f", valid {key.validator}" if key.validator else ""
    return f"{key.type}, default {key.default or 'none'}{validated}, {key.importance}"
