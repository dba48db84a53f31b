"""Which scripts and options an operator's own scripts call in vain; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.model.kafka_inventory import Command, CommandOption
from harness.model.operator_changes import Area, Change, Weight

_BIN = "bin"
_ERROR = "A call with it ends with an error."


def command_changes(base: Iterable[Command], candidate: Iterable[Command]) -> tuple[Change, ...]:
    """Return what changes in the commands; of both Kafkas they were found out in the same way."""
    before, after = {each.name: each for each in base}, {each.name: each for each in candidate}
    return tuple(change for name in {**before, **after} for change in _of_command(name, before, after))


def _of_command(name: str, before: Mapping[str, Command], after: Mapping[str, Command]) -> Iterator[Change]:
    old, new = before.get(name), after.get(name)
    outer = name.partition(" ")[0]
    if outer != name and not (_has_own(outer, before) and _has_own(outer, after)):
        return  # the help of one names no commands: it was not read
    if old is None and new is not None:
        if outer == name or outer in before:
            yield _change(Weight.ADDS, name, _BIN, "", new.main, "New.", 90)
    elif new is None and old is not None:
        if outer == name or outer in after:
            yield _change(Weight.BREAKS, name, _BIN, old.main, "", "A script that calls it fails.", 10)
    elif old is not None and new is not None:
        yield from _of_options(name, old, new)
        if old.main != new.main and outer == name:
            means = "The script is the same; what starts the old class by kafka-run-class.sh may fail."
            yield _change(Weight.CHANGES, old.main, name, old.main, new.main, means, 80)


def _has_own(script: str, commands: Mapping[str, Command]) -> bool:
    return any(name.startswith(f"{script} ") for name in commands)


def _of_options(command: str, old: Command, new: Command) -> Iterator[Change]:
    if not old.options or not new.options:  # the help of one names none
        return
    before, after = ({option.name: option for option in each.options} for each in (old, new))
    for name in before.keys() - after.keys():
        was = "It was deprecated. " if before[name].deprecated else ""
        yield _change(Weight.BREAKS, f"{command} {name}", _BIN, "an option", "", f"{was}{_ERROR}", 20)
    for name in after.keys() - before.keys():
        yield _added(command, after[name])
    for name in before.keys() & after.keys():
        yield from _altered(command, before[name], after[name])


def _added(command: str, option: CommandOption) -> Change:
    subject = f"{command} {option.name}"
    if option.required:
        means = "A call without it ends with an error."
        return _change(Weight.BREAKS, subject, _BIN, "", "required", means, 15, by_default=True)
    return _change(Weight.ADDS, subject, _BIN, "", "an option", "New.", 90)


def _altered(command: str, old: CommandOption, new: CommandOption) -> Iterator[Change]:
    subject = f"{command} {new.name}"
    if new.required and not old.required:
        means = "The help calls it required now: a call without it may end with an error."
        yield _change(Weight.BREAKS, subject, _BIN, "optional", "required", means, 30, by_default=True)
    if old.default and new.default and old.default != new.default:
        means = "A call without it does something else."
        values = f"default {old.default}", f"default {new.default}"
        yield _change(Weight.CHANGES, subject, _BIN, *values, means, 40, by_default=True)
    if new.deprecated and not old.deprecated:
        means = "Deprecated: a later release removes it."
        yield _change(Weight.CHANGES, subject, _BIN, "", "deprecated", means, 60)


def _change(
    weight: Weight,
    subject: str,
    where: str,
    base: str,
    candidate: str,
    means: str,
    rank: int,
    *,
    by_default: bool = False,
) -> Change:
    return Change(Area.COMMANDS, weight, subject, where, base, candidate, means, rank, by_default)
