"""What two raft jars say is configurable, compared class by class and key by key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.building.configdef import ConfigKey
from harness.building.every_config import EveryConfig
from harness.model.kafka_inventory import REQUIRED, ConfigOwner, DeclaredKey
from harness.model.proof import Difference
from harness.proof.dropin import rules
from harness.proof.dropin.config_uses import SILENT, compare_uses


def compare_configurations(
    base: EveryConfig, candidate: EveryConfig, flag: str, flag_default: str
) -> Iterator[Difference]:
    """Yield, of every class that declares keys, what `compare_keys` and `compare_uses` find, and those not to be asked.

    One that base's jar does not show either is a note: its keys are not compared, whatever the candidate's are.
    """
    unread = candidate.unread.keys() | base.unread.keys()
    for owner, why in candidate.unread.items():
        if owner in base.unread:
            continue
        yield rules.CONFIG_UNREADABLE.broken(owner, f"the configuration of {owner} cannot be read: {why}")
    for owner, why in base.unread.items():
        detail = f"the keys of {owner} are not compared, since base's jar does not show them: {why}"
        yield rules.CONFIG_NOT_COMPARED.broken(owner, detail)
    old, new = _by_class(base.owners), _by_class(candidate.owners)
    for owner in sorted((old.keys() | new.keys()) - unread):
        yield from compare_keys(old.get(owner, ()), new.get(owner, ()), flag, flag_default)
    for owner in sorted((base.uses.keys() & new.keys()) - unread):
        yield from compare_uses(owner, base.uses[owner], candidate.uses.get(owner, SILENT))


def _by_class(owners: Iterable[ConfigOwner]) -> Mapping[str, Sequence[ConfigKey]]:
    """Return keys by class: which of its members declares them is its own affair."""
    found: dict[str, list[ConfigKey]] = defaultdict(list)
    for each in owners:
        found[each.owner.partition("#")[0]] += map(_as_key, each.keys)
    return found


def _as_key(key: DeclaredKey) -> ConfigKey:
    default = "" if key.default == REQUIRED else key.default
    return ConfigKey(key.name, key.type, default, key.importance, key.validator)


def compare_keys(
    base: Sequence[ConfigKey], candidate: Sequence[ConfigKey], flag: str, flag_default: str
) -> Iterator[Difference]:
    """Yield keys that are missing, new or declared otherwise; where a class declares one twice, each is held to base's.

    `flag` is the key that the claims name and `flag_default` its default as they say it; both empty without claims.
    """
    old, new = map(_by_name, (base, candidate))
    for name in sorted(old.keys() - new.keys()):
        yield rules.CONFIG_REMOVED.broken(name, f"the key {name} is no longer declared", _described(old[name][0]))
    for name in sorted(new.keys() - old.keys()):
        rule = rules.CONFIG_ADDED if name == flag else rules.CONFIG_UNCLAIMED
        described = _described(new[name][0])
        yield rule.broken(name, f"the key {name} is new: {described}", "", described)
    for name in sorted(old.keys() & new.keys()):
        for key in new[name]:
            if key not in old[name]:
                yield from _compare(old[name][0], key)
    for key in new.get(flag, ()):
        if key.default != flag_default:
            detail = f"{flag} is {key.default or 'without a default'}; the claims say {flag_default}"
            yield rules.DEFAULT_CHANGED.broken(flag, detail, flag_default, key.default)


def _by_name(keys: Sequence[ConfigKey]) -> Mapping[str, Sequence[ConfigKey]]:
    found: dict[str, list[ConfigKey]] = defaultdict(list)
    for key in keys:
        found[key.name].append(key)
    return found


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
