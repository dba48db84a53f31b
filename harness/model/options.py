"""Options of a command line, declared once as metadata of a record's fields: read into the record, written from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from harness.base.errors import HarnessError

R = TypeVar("R")
T = TypeVar("T")
_DECLARED = "option"


@dataclass(frozen=True, slots=True)
class Option:
    """How a field is given on a command line: the option's `name` and what its `help` says.

    `kind` is the type of the field's value, or of each value of a field that has `several`: these are given one by
    one, each behind the name, or in one word with `commas`. `off` is the switch that turns off what is on by default.
    `least` and `most` bound a number. `short` is a short name beside it.
    """

    name: str
    help: str
    kind: type
    default: Any
    several: bool
    off: str = ""
    commas: bool = False
    least: int | None = None
    most: int | None = None
    short: str = ""

    def arguments(self, value: Any) -> Iterator[str]:
        """Yield the arguments that give `value`; none for the default."""
        if value == self.default:
            return
        if self.kind is bool:
            yield self.name if value else self.off
            return
        for each in [",".join(value)] if self.commas else value if self.several else [value]:
            yield from (self.name, str(each))

    def value(self, arguments: Sequence[str]) -> Any:
        """Return the value of `arguments`, one for each time that the option was given. Raises ValueError."""
        if self.commas:
            return tuple(part for part in arguments[-1].split(",") if part)
        return tuple(map(self.kind, arguments)) if self.several else self.kind(arguments[-1])


def option(default: T, name: str, help: str, **more: Any) -> T:
    """Return a dataclass field that an option gives; `more` are further fields of its Option."""
    return field(default=default, metadata={_DECLARED: {"name": name, "help": help, **more}})


def options_of(record: type) -> Mapping[str, Option]:
    """Return the options of a dataclass by the names of their fields, in the fields' order."""
    hints = get_type_hints(record)
    return {
        each.name: Option(**each.metadata[_DECLARED], **_kind(hints[each.name]), default=each.default)
        for each in fields(record)
        if _DECLARED in each.metadata
    }


def arguments_of(record: Any) -> tuple[str, ...]:
    """Return a record as arguments of a command line: what differs from the defaults, in the fields' order."""
    options = options_of(type(record))
    return tuple(argument for name, option in options.items() for argument in option.arguments(getattr(record, name)))


def record_of(record: type[R], arguments: Sequence[str]) -> R:
    """Return the record that a command line's arguments give; those of none of its options are skipped.

    Raises HarnessError for a value that is not of its option's kind.
    """
    options = options_of(record)
    switches = {argument: (name, on) for name, each in options.items() for argument, on in _switches(each)}
    named = {word: name for name, each in options.items() if each.kind is not bool for word in (each.name, each.short)}
    values: dict[str, Any] = {}
    given: dict[str, list[str]] = {}
    rest = iter(arguments)
    for argument in rest:
        name, attached, value = argument.partition("=")
        if name in switches:
            values.__setitem__(*switches[name])
        elif name in named:
            given.setdefault(named[name], []).append(value if attached else next(rest, ""))
    return record(**values, **{name: _value(options[name], value) for name, value in given.items()})


def _switches(each: Option) -> Iterator[tuple[str, bool]]:
    if each.kind is bool:
        yield each.name, True
        yield each.off, False


def _value(each: Option, arguments: Sequence[str]) -> Any:
    try:
        return each.value(arguments)
    except ValueError as error:
        raise HarnessError(f"{' '.join((each.name, *arguments))} is not an option's value: {error}.") from error


def _kind(hint: Any) -> dict[str, Any]:
    """Return `kind` and `several` of a field's type: `Path | None`, `tuple[str, ...]`, or a type alone."""
    arguments = [each for each in get_args(hint) if each not in (type(None), ...)]
    return {"kind": arguments[0] if arguments else hint, "several": get_origin(hint) is tuple}
