"""Java as far as the audit looks at it: what each method does and in which order; frozen records, no I/O.

A method's body is a tree of steps. What it does are the leaves: calls, and reads and writes of fields, in the order
in which Java evaluates them. Classes are known by their simple names; of a receiver only the declared class counts,
never the name of a variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from harness.model.runs import Evidence


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call of `owner.name`; the owner is empty where it is not known. `new X()` has the name `<init>`.

    `constants` are the arguments' values as text, None for what is no constant; a text that is joined with something
    unknown has `{}` in its place. `arity` is -1 for a method reference.
    """

    owner: str
    name: str
    arity: int
    constants: tuple[str | None, ...]
    at: Evidence


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """A read or a write of the field `owner.name`; it is `own` where no other object is named before it.

    What is read is `lent` where somebody else gets it, who may keep or change it: as an argument, by `return`, by an
    assignment. Asking it something, comparing it and going through its elements is not that.
    """

    owner: str
    name: str
    writes: bool
    at: Evidence
    own: bool = True
    lent: bool = False


@dataclass(frozen=True, slots=True)
class Atom:
    """A condition that is not taken apart: a call alone, a test for null or emptiness, an equality, or anything else.

    `exists` is what the condition says where there is something: False for `x == null` and `x.isEmpty()`, True for
    `x != null`.
    `equal` is what it says of two things that are equal: True for `a.equals(b)`, False for `a != b`.
    """

    call: Call | None = None
    exists: bool | None = None
    equal: bool | None = None


@dataclass(frozen=True, slots=True)
class Not:
    """`!condition`."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Junction:
    """`left && right`, or with `any` `left || right`."""

    left: Condition
    right: Condition
    any: bool


@dataclass(frozen=True, slots=True)
class Truth:
    """The literal `true` or `false`."""

    value: bool


Condition = Atom | Not | Junction | Truth


@dataclass(frozen=True, slots=True)
class Sequence:
    """Steps one after the other."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class If:
    """One of two steps; what evaluating the condition does stands before it in the sequence."""

    condition: Condition
    then: Step
    other: Step


@dataclass(frozen=True, slots=True)
class Loop:
    """A body that runs any number of times."""

    body: Step


@dataclass(frozen=True, slots=True)
class Breakable:
    """A body that runs once and that `break` ends: a `switch`, a statement with a label."""

    body: Step


@dataclass(frozen=True, slots=True)
class Deferred:
    """The body of a lambda or of an anonymous class: it runs at some time, or never."""

    body: Step


@dataclass(frozen=True, slots=True)
class Locked:
    """A body that one thread at a time runs: `lock` is `Class.this` or a field `Class.name`, empty for any other."""

    body: Step
    lock: str


@dataclass(frozen=True, slots=True)
class Try:
    """A body, what runs when it throws, and what runs however it ends."""

    body: Step
    catches: Step
    last: Step


class Exit(Enum):
    """How a step is left."""

    FALLS = "falls through"
    RETURNS = "returns"
    BREAKS = "breaks or continues"
    THROWS = "throws"


Act = Call | Access
Step = Act | Sequence | If | Loop | Breakable | Deferred | Locked | Try | Exit
NOTHING = Sequence(())


def sequence(*steps: Step) -> Step:
    """Return steps one after the other as one, without those that do nothing."""
    steps_left = tuple(step for step in steps if step != NOTHING)
    return steps_left[0] if len(steps_left) == 1 else Sequence(steps_left)


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method or, by the name `<init>`, a constructor; `parameters` are simple types.

    `returned` is the condition of a method that does nothing but return one.
    """

    owner: str
    name: str
    parameters: tuple[str, ...]
    returns: str
    modifiers: frozenset[str]
    body: Step
    returned: Condition | None
    at: Evidence

    @property
    def title(self) -> str:
        """`Class.method`, or the class's name for a constructor."""
        return self.owner if self.name == "<init>" else f"{self.owner}.{self.name}"

    @property
    def takes_any_number(self) -> bool:
        """Whether its last parameter is `Type...`."""
        return bool(self.parameters) and self.parameters[-1].endswith("...")


@dataclass(frozen=True, slots=True)
class Field:
    """A field with its declared simple type."""

    name: str
    type: str
    modifiers: frozenset[str]
    at: Evidence


@dataclass(frozen=True, slots=True)
class JavaClass:
    """A class, interface, enum or record; `initial` is what its initializers do."""

    name: str
    superclass: str
    fields: Mapping[str, Field]
    methods: tuple[Method, ...]
    initial: Step
    at: Evidence


@dataclass(frozen=True, slots=True)
class Code:
    """Everything that was read. `classes` go by simple name; a name that two classes share is left out.

    `unread` are files that could not be read, each with the reason, as `path: reason`. `left_out` has, by such a shared
    name, every name that stands in those classes.
    """

    classes: Mapping[str, JavaClass] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    left_out: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def methods(self) -> tuple[Method, ...]:
        """All methods and constructors."""
        return tuple(method for each in self.classes.values() for method in each.methods)

    @property
    def constructors(self) -> tuple[Method, ...]:
        """All constructors."""
        return tuple(method for method in self.methods if not method.returns)

    @property
    def initializers(self) -> tuple[Method, ...]:
        """What each class's initializers do, as if it were one more constructor."""
        return tuple(
            Method(each.name, "<init>", (), "", frozenset(), each.initial, None, each.at)
            for each in self.classes.values()
        )
