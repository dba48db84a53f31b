"""What a class of two raft jars makes of the same values of the same keys."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.building.config_uses import ConfigUse, Reading, Setting
from harness.model.proof import Difference, Severity
from harness.proof.dropin import rules

_ADDRESS = re.compile(r"(?:(?:\d+@)?(?:[\w.-]+|\[[\da-f:.]+\]):)?(\d{1,5})")  # or a number alone
_LAST_PORT = 65535

SILENT = ConfigUse(failed="the JVM ended before it answered")


def compare_uses(owner: str, base: ConfigUse, candidate: ConfigUse) -> Iterator[Difference]:
    """Yield keys that a class reads otherwise than base's does, and values that are refused or accepted only now.

    Only settings and getters of both are compared: what is gone or declared otherwise is told of elsewhere.
    """
    if candidate.failed and base.getters:
        detail = f"{owner} cannot be made from its defaults any more: {candidate.failed}"
        yield rules.CONFIG_READ_OTHERWISE.broken(owner, detail)
    yield from _read_otherwise(owner, base, candidate)
    for key, settings in _by_key(base.refused.keys() & candidate.refused.keys()).items():
        yield from _answered_otherwise(key, settings, base.refused, candidate.refused)


def _read_otherwise(owner: str, base: ConfigUse, candidate: ConfigUse) -> Iterator[Difference]:
    for settings in _by_key(base.reads.keys() & candidate.reads.keys()).values():
        found = (_between(owner, each, base.reads[each], candidate) for each in settings)
        yield from [each for each in found if each][:1]  # its other values would say the same


def _between(owner: str, setting: Setting, base: Reading, candidate: ConfigUse) -> Difference | None:
    new = candidate.reads[setting]
    if base.failed:
        return None
    if new.failed:
        return rules.CONFIG_READ_OTHERWISE.broken(setting.key, f"with {setting} no {owner} is made: {new.failed}")
    now = {name: new.changed.get(name, value) for name, value in candidate.getters.items()}
    wrong = [name for name in sorted(base.changed.keys() & now.keys()) if base.changed[name] != now[name]]
    if not wrong:
        return None
    was, is_now = (", ".join(f"{name}() is {of[name]}" for name in wrong) for of in (base.changed, now))
    return rules.CONFIG_READ_OTHERWISE.broken(
        setting.key, f"with {setting} of {owner} {is_now}; with base {was}", was, is_now
    )


def _answered_otherwise(
    key: str, settings: Sequence[Setting], base: Mapping[Setting, str], candidate: Mapping[Setting, str]
) -> Iterator[Difference]:
    refused = [each for each in settings if candidate[each] and not base[each]]
    if refused:
        detail = f"{key} refuses {_listed(refused)} by {candidate[refused[0]]}, which base accepts"
        is_sound = any(_is_sound(each.value) for each in refused)
        rule = rules.CONFIG_CHANGED if is_sound else rules.CONFIG_CHANGED.weighing(Severity.WARNING)
        yield rule.broken(key, detail, "accepted", "refused")
    accepted = [each for each in settings if base[each] and not candidate[each]]
    if accepted:
        detail = f"{key} accepts {_listed(accepted)}, which base refuses by {base[accepted[0]]}"
        yield rules.CONFIG_ACCEPTS_MORE.broken(key, detail, "refused", "accepted")


def _is_sound(text: str) -> bool:
    """Whether somebody may have a value in use: no address without host or port, and no number below 1."""
    addresses = [_ADDRESS.fullmatch(each) for each in text.split(",")]
    return text == "" or all(each and 0 < int(each[1]) <= _LAST_PORT for each in addresses)


def _by_key(settings: Iterable[Setting]) -> Mapping[str, Sequence[Setting]]:
    found: dict[str, list[Setting]] = defaultdict(list)
    for each in sorted(settings):
        found[each.key].append(each)
    return found


def _listed(settings: Iterable[Setting]) -> str:
    return ", ".join(f'"{each.value}"' for each in settings)
