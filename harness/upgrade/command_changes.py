"""Which scripts and options an operator's own scripts call in vain; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

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
        if old.main and new.main and old.main != new.main and outer == name:
            means = "The script is the same; what starts the old class by kafka-run-class.sh may fail."
            yield _change(Weight.CHANGES, old.main, name, old.main, new.main, means, 80)


def _has_own(script: str, commands: Mapping[str, Command]) -> bool:
    return any(name.startswith(f"{script} ") for name in commands)


def _of_options(command: str, old: Command, new: Command) -> Iterator[Change]:
    if not old.options or not new.options:  # the help of one names none
        return
    before, after = _by_any_name(old.options), _by_any_name(new.options)
    for option in old.options:
        kept = next((after[name] for name in option.names if name in after), None)
        if kept is None:
            yield _removed(command, option)
        else:
            yield from _altered(command, option, kept)
    for option in new.options:
        if before.keys().isdisjoint(option.names):
            yield _added(command, option)


def _by_any_name(options: Iterable[CommandOption]) -> dict[str, CommandOption]:
    return {name: option for option in options for name in option.names}


def _removed(command: str, option: CommandOption) -> Change:
    was = "It was deprecated. " if option.deprecated else ""
    return _of_option(Weight.BREAKS, command, option, "an option", "", f"{was}{_ERROR}", 20)


def _added(command: str, option: CommandOption) -> Change:
    if option.required:
        means = "A call without it ends with an error."
        return _of_option(Weight.BREAKS, command, option, "", "required", means, 15, by_default=True)
    return _of_option(Weight.ADDS, command, option, "", "an option", "New.", 90)


def _altered(command: str, old: CommandOption, new: CommandOption) -> Iterator[Change]:
    for name in old.names:
        if name not in new.names:
            means = f"{_ERROR} The option is {new.name} now."
            yield _change(Weight.BREAKS, f"{command} {name}", _BIN, "a name of an option", "", means, 20)
    if new.required and not old.required:
        means = "The help calls it required now: a call without it may end with an error."
        yield _of_option(Weight.BREAKS, command, new, "optional", "required", means, 30, by_default=True)
    if old.default and new.default and old.default != new.default:
        means = "A call without it does something else."
        values = f"default {old.default}", f"default {new.default}"
        yield _of_option(Weight.CHANGES, command, new, *values, means, 40, by_default=True)
    if new.deprecated and not old.deprecated:
        means = "Deprecated: a later release removes it."
        yield _of_option(Weight.CHANGES, command, new, "", "deprecated", means, 60)


def _of_option(
    weight: Weight,
    command: str,
    option: CommandOption,
    base: str,
    candidate: str,
    means: str,
    rank: int,
    *,
    by_default: bool = False,
) -> Change:
    found = _change(weight, f"{command} {option.name}", _BIN, base, candidate, means, rank)
    return replace(found, by_default=by_default, other_names=option.others)


def _change(weight: Weight, subject: str, where: str, base: str, candidate: str, means: str, rank: int) -> Change:
    return Change(Area.COMMANDS, weight, subject, where, base, candidate, means, rank)
