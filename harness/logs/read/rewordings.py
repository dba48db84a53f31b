"""Log statements of one version that are another version's, in other words or in another class; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.base.likeness import most_alike
from harness.logs.read.statements import MIN_LETTERS, Library, Statement


@dataclass(frozen=True, slots=True)
class Rewording:
    """A statement, and what it was in another version: other words in one class, or the same in another class."""

    was: Statement
    now: Statement

    @property
    def is_moved(self) -> bool:
        """Whether it has the same words, in another class."""
        return self.was.parts == self.now.parts

    def template(self, template: str, values: Sequence[str]) -> str:
        """Return a template of today's words in those of before; as it is where no message ends with these values."""
        if self.is_moved or len(values) != len(self.now.parts) - 1:
            return template
        written, was = _filled(self.now, values), _filled(self.was, values)
        if template.endswith(written):
            return template.removesuffix(written) + was
        message, line_end, thrown = template.partition("\n")  # below a message stands what was thrown
        return message.removesuffix(written) + was + line_end + thrown if message.endswith(written) else template

    def logger(self, logger: str) -> str:
        """Return the logger of before; the same where it is not named after the class."""
        now, was = _class_of(self.now), _class_of(self.was)
        return was + logger.removeprefix(now) if logger == now or logger.startswith(f"{now}$") else logger


def rewordings(base: Library, candidate: Library) -> Mapping[str, Rewording]:
    """Return the statements of a candidate's sources that base's have otherwise, by their place.

    A statement of one library alone is one of the other's alone if that has the same words at the same level in another
    class, and none else has; or else like words, as many values and the same level in the class of that name.
    """
    gone, new = _only_in(base, candidate), _only_in(candidate, base)
    moved = list(_pairs_of_one(gone, new))
    gone_left, new_left = _left(gone, (each.was for each in moved)), _left(new, (each.now for each in moved))
    return {each.now.place: each for each in (*moved, *_alike(gone_left, new_left))}


def _only_in(library: Library, other: Library) -> list[Statement]:
    known = {(each.file, each.level, each.parts) for each in other.statements}
    return [each for each in library.statements if (each.file, each.level, each.parts) not in known]


def _left(statements: Iterable[Statement], taken: Iterable[Statement]) -> list[Statement]:
    places = {each.place for each in taken}
    return [each for each in statements if each.place not in places]


def _pairs_of_one(gone: Iterable[Statement], new: Iterable[Statement]) -> Iterator[Rewording]:
    """Yield what has the same words and level, once in each; short texts are in many classes by chance."""
    was, now = (_grouped(each, lambda s: (s.level, s.parts)) for each in (gone, new))
    for key in (each for each in was if each in now):  # in an order that no hash decides
        if len(was[key]) == len(now[key]) == 1 and was[key][0].letters >= MIN_LETTERS:
            yield Rewording(was[key][0], now[key][0])


def _alike(gone: Iterable[Statement], new: Iterable[Statement]) -> Iterator[Rewording]:
    """Yield what has like words in the class of the same name, those most alike first, each once."""
    was, now = (_grouped(each, _kind) for each in (gone, new))
    for key in (each for each in was if each in now):  # in an order that no hash decides
        old, young = ({each.place: each for each in side[key]} for side in (was, now))
        texts, of_now = ({place: each.text for place, each in side.items()} for side in (old, young))
        yield from (Rewording(old[place], young[other]) for place, other in most_alike(texts, of_now))


def _kind(statement: Statement) -> tuple[str, str, str, int]:
    return PurePosixPath(statement.file).stem, statement.owner, statement.level, len(statement.parts)


def _grouped(statements: Iterable[Statement], key: Callable[[Statement], Hashable]) -> dict[Hashable, list[Statement]]:
    found: dict[Hashable, list[Statement]] = defaultdict(list)
    for each in statements:
        found[key(each)].append(each)
    return found


def _filled(statement: Statement, values: Sequence[str]) -> str:
    first, *rest = statement.parts
    return first + "".join(value + part for value, part in zip(values, rest, strict=True))


def _class_of(statement: Statement) -> str:
    return str(PurePosixPath(statement.file).with_suffix("")).replace("/", ".")
