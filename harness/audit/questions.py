"""What may be asked of the source: one frozen record a kind of question; no I/O.

Members are written `Class.member` with the class's simple name, constructors `Class(int, String)`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FollowedBy:
    """Is every call of `calls` followed, on every path that does not throw, by a write of the field `then`?

    `within` names the methods that are meant, empty for every one that there is. The getters in `given` are taken to
    be true: with the flag off nobody promises anything.
    """

    calls: tuple[str, ...]
    then: str
    within: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOnce:
    """Is a field that may be replaced at any time volatile, and read at most once on each path of a method?"""

    field: str


@dataclass(frozen=True, slots=True)
class GuardedByFlag:
    """Is the field never written, and no line with the text `log` logged, while the getter `flag` says false?"""

    flag: str
    field: str
    log: str = ""


@dataclass(frozen=True, slots=True)
class OnlyWhenChanged:
    """In methods that call one of `calls`: does what follows depend on whether anything changed?

    What follows is that the field is written or, where `log` is given, that a line with this text is logged. `given`
    is as in FollowedBy.
    """

    calls: tuple[str, ...]
    field: str
    log: str = ""
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoggedAt:
    """Is a line with the text `log` logged, and nowhere at a higher level than `most` (trace … error)?"""

    log: str
    most: str


@dataclass(frozen=True, slots=True)
class KeepsConstructor:
    """Is there still a public constructor of exactly these parameters?"""

    constructor: str


@dataclass(frozen=True, slots=True)
class Default:
    """Does the module's `ConfigDef` define `key`, with this default?"""

    key: str
    default: str


@dataclass(frozen=True, slots=True)
class OneThread:
    """Does every call of a method of the class `type` from outside of it come from one of the methods `entries`?

    They are what one thread runs, or what runs before it is started: the class needs no locks then.
    """

    type: str
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetOnce:
    """Is the field written by its object's own constructors and initializers alone, and what it holds never changed?"""

    field: str


@dataclass(frozen=True, slots=True)
class UsedIn:
    """Does every call, read and write of `members` stand in one of `methods`?

    `Class.new` stands for a class's constructors and, among `methods`, for its initializers too.
    """

    members: tuple[str, ...]
    methods: tuple[str, ...]


Ask = (
    FollowedBy
    | ReadOnce
    | GuardedByFlag
    | OnlyWhenChanged
    | LoggedAt
    | KeepsConstructor
    | Default
    | OneThread
    | SetOnce
    | UsedIn
)

LEVELS = ("trace", "debug", "info", "warn", "error")
ASKS: dict[str, type[Ask]] = {
    "followed-by": FollowedBy,
    "read-once": ReadOnce,
    "guarded-by-flag": GuardedByFlag,
    "only-when-changed": OnlyWhenChanged,
    "logged-at": LoggedAt,
    "kept": KeepsConstructor,
    "default": Default,
    "one-thread": OneThread,
    "set-once": SetOnce,
    "used-in": UsedIn,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question by its id; `claim` is the claim that promises the answer, empty where none does."""

    id: str
    ask: Ask
    claim: str = ""
