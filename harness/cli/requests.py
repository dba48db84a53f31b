"""Commands that take a Request: their options are those that its fields declare."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.base.errors import HarnessError
from harness.cli import common
from harness.model.options import Option, arguments_of, options_of
from harness.model.request import Request, located

_OPTIONS = options_of(Request)


def all_but(*names: str) -> tuple[str, ...]:
    """Return the fields of a Request that a command takes options for which takes all but these."""
    return tuple(name for name in _OPTIONS if name not in names)


def own_option(name: str, kind: object, default: object) -> inspect.Parameter:
    """Return an option of one command alone; `kind` is annotated as typer wants it."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


_RESUME = own_option(
    "resume",
    Annotated[
        Path | None,
        typer.Option(
            "--resume", help="Continue an interrupted run directory, with its original options.", show_default=False
        ),
    ],
    None,
)


_QUIET = own_option("quiet", common.Quiet, False)
VERBOSE = own_option("verbose", common.Verbose, False)
OUTPUT = own_option("output", common.Form, common.Output.TEXT)


def taking_request(
    act: Callable[..., int],
    *own: inspect.Parameter,
    only: Iterable[str] = tuple(_OPTIONS),
    resume: Callable[[Path], int] | None = None,
    shown: Iterable[inspect.Parameter] = (),
) -> Callable[..., int]:
    """Return the command that has a Request's options (those of the fields in `only`) and its `own`.

    `act` is called with the Request, its paths absolute, and, by name, the values of its own options. With `resume`
    there is one more option, which names a run directory to go on with and stands alone. `shown` are options that say
    what is printed; they go with all others.
    """

    def command(**values: Any) -> int:
        folder = values.pop(_RESUME.name, None)
        for each in (*shown, _QUIET):  # noted when they were read
            values.pop(each.name, None)
        mine = {each.name: values.pop(each.name) for each in own}
        request = _request(values)
        if folder is None or resume is None:
            return act(located(request), **mine)
        named = [_option_name(each.name) for each in own if mine[each.name] not in (each.default, [])]
        if others := [*arguments_of(request), *named]:
            raise HarnessError(f"--resume takes its options from {folder}, not {others[0]}.", "Leave the others out.")
        return resume(folder)

    shared = [_parameter(name, _OPTIONS[name]) for name in only]
    options = [*shared, *own, *([_RESUME] if resume else []), *shown, _QUIET]
    # typer reads options from signatures
    command.__signature__ = inspect.Signature(options, return_annotation=int)  # type: ignore[attr-defined]
    return command


def _option_name(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def _request(values: Mapping[str, Any]) -> Request:
    given = {name: _value(_OPTIONS[name], value) for name, value in values.items()}
    return Request(**given, argv=common.argv())


def _value(option: Option, value: Any) -> Any:
    """Return a field's value as typer read it; all but several values are of the field's kind already."""
    if option.commas:
        return option.value([value])
    return tuple(value or ()) if option.several else value


def _parameter(name: str, option: Option) -> inspect.Parameter:
    words = f"{option.name}/{option.off}" if option.off else option.name
    declared = typer.Option(
        *filter(None, (words, option.short)),
        help=option.help,
        show_default=bool(option.default),
        min=option.least,
        max=option.most,
    )
    kind, default = _kind(option)
    return own_option(name, Annotated[kind, declared], default)


def _kind(option: Option) -> tuple[Any, Any]:
    """Return the type and the default that typer reads an option by."""
    if option.commas:
        return str, ""
    if option.several:
        return list[option.kind], None  # type: ignore[name-defined]
    return (option.kind | None if option.default is None else option.kind), option.default
