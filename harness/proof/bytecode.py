"""Class files as facts: what a class declares, and what each of its methods does in order; read by ASM in a JVM."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.archives import open_library
from harness.base.errors import HarnessError
from harness.building.builders.ecj import Ecj
from harness.building.java_programs import NoAnswer, answer_of, compiled_probe
from harness.toolbox.java import JavaRuntime
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

_SOURCE = "ClassFacts.java"
_SECONDS = 120
_MEMORY = "-Xmx512m"
_MODULE, _SYNCHRONIZED = 0x8000, 0x20  # ACC_MODULE, ACC_SYNCHRONIZED
_ENTERS_MONITOR = "op 194"
_BROKEN = "!"  # in place of a class's name: this entry cannot be read


@dataclass(frozen=True, slots=True)
class Use:
    """One instruction that refers to a member or class, at a source line (0 when the class file has none).

    `kind` is `call` (any invoke, and what a lambda or method reference stands for), `get` or `put` (a field), `new`,
    or `type` (cast, instanceof, catch, class constant). `name` and `descriptor` are empty for `new` and `type`.
    `made_into` is the interface of the object that a lambda or method reference becomes (`java/lang/Runnable`), so that
    nothing is called yet; empty for whatever acts at once. `how` is what the instruction takes a member for: `static`
    or `instance`, and `interface` after it where it takes a method's owner for one; empty for `new` and `type`.
    """

    kind: str
    owner: str
    name: str
    descriptor: str
    line: int
    made_into: str = ""
    how: str = ""


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """A method: flags as in the class file, checked exceptions, a digest of its instructions, and its uses in order.

    `code` is the SHA-256 of the instructions with constants resolved, so that the order of the constant pool, line
    numbers and names of local variables make no difference; a lambda stands for what it does, whatever its number.
    Empty for a method without code. `operations` are the constants that it loads, what it computes, compares and
    tests with `instanceof`, and the monitors that it enters (`op 194`, the instruction's number), in order.
    """

    name: str
    descriptor: str
    access: int
    exceptions: tuple[str, ...]
    code: str
    uses: tuple[Use, ...]
    operations: tuple[str, ...] = ()

    @property
    def is_synchronized(self) -> bool:
        """Whether a thread holds its object's lock in it, or its class's where it is static."""
        return bool(self.access & _SYNCHRONIZED)

    @property
    def enters_monitor(self) -> bool:
        """Whether it has a `synchronized` block."""
        return _ENTERS_MONITOR in self.operations


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """A field; `constant` is its compile-time constant (a string stands in double quotes), empty when it has none."""

    name: str
    descriptor: str
    access: int
    constant: str


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class; names have slashes (`org/apache/kafka/raft/QuorumConfig`), `major` is the class file's version.

    `superclass` is empty for java/lang/Object alone. `entry` is where the jar has it.
    """

    name: str
    major: int
    access: int
    superclass: str
    interfaces: tuple[str, ...]
    fields: tuple[FieldFacts, ...]
    methods: tuple[MethodFacts, ...]
    entry: str = ""

    @property
    def is_numbered(self) -> bool:
        """Whether it is anonymous or local: compilers number these as they like."""
        return any(part[:1].isdigit() for part in self.name.split("$")[1:])


Classes = Mapping[str, ClassFacts]  # by their names


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """What classes of another jar use of the jar under test; `user` is one of them.

    `kind` is that of a Use, or `extends` or `implements`, which have an owner alone, or `lambda`: the interface that
    one (or a method reference) is made into, with the one method that it implements.
    """

    user: str
    kind: str
    owner: str
    name: str
    descriptor: str


@dataclass(frozen=True, slots=True)
class Kin:
    """What a class extends and implements; `superclass` is empty for java/lang/Object alone."""

    access: int
    superclass: str
    interfaces: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class LogStatement:
    """A log statement of a class: its level (`INFO`), and what it writes with `{}` for values.

    Of a text that is put together from several, it is the first.
    """

    owner: str
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class BytecodeTools:
    """The compiled reader (a folder of classes), ASM's jars, and the Java that runs them."""

    java: JavaRuntime
    classes: Path
    asm: tuple[Path, ...]


def prepare_bytecode(ecj: Ecj, toolbox: Toolbox) -> BytecodeTools:
    """Compile the reader into the cache, once per source and compiler. Raises HarnessError when it does not compile."""
    asm = toolbox.tools(Purpose.BYTECODE)
    return BytecodeTools(ecj.runtime, compiled_probe(ecj, Path(__file__).with_name(_SOURCE), asm, toolbox.cache), asm)


def read_classes(tools: BytecodeTools, *jars: Path) -> Mapping[str, ClassFacts]:
    """Return the classes of one or several jars by name; of two with one name the first, as on a class path.

    Raises HarnessError for what is no jar, and for a class file that cannot be read.
    """
    found: dict[str, ClassFacts] = {}
    for classes in read_each(tools, jars):
        found = {**classes, **found}
    return found


def read_each(tools: BytecodeTools, jars: Sequence[Path]) -> tuple[Mapping[str, ClassFacts], ...]:
    """Return the classes of each jar by name, in one run of a JVM. Raises HarnessError as `read_classes`."""
    return parse_classes(_ask(tools, ["facts"], jars), len(jars))


def read_references(
    tools: BytecodeTools, jars: Sequence[Path], packages: Iterable[str]
) -> tuple[tuple[Reference, ...], ...]:
    """Return, for each jar, what its classes use of the packages (`org/apache/kafka/raft`; not of those below them).

    Raises HarnessError as `read_classes`.
    """
    found: tuple[list[Reference], ...] = tuple([] for _ in jars)
    for line in _ask(tools, ["references", ",".join(sorted(packages))], jars):
        found[line[0]].append(Reference(*map(str, line[1:])))
    return tuple(map(tuple, found))


def read_kin(tools: BytecodeTools, jars: Sequence[Path]) -> tuple[Mapping[str, Kin], ...]:
    """Return, for each jar, what its classes extend and implement, by name. Raises HarnessError as `read_classes`."""
    found: tuple[dict[str, Kin], ...] = tuple({} for _ in jars)
    for jar, _, name, access, superclass, interfaces in _ask(tools, ["kin"], jars):
        found[jar].setdefault(name, Kin(access, superclass, tuple(interfaces)))
    return found


def read_statements(tools: BytecodeTools, jars: Sequence[Path]) -> tuple[frozenset[LogStatement], ...]:
    """Return, for each jar, the log statements of its classes. Raises HarnessError as `read_classes`."""
    found: tuple[set[LogStatement], ...] = tuple(set() for _ in jars)
    for line in _ask(tools, ["statements"], jars):
        found[line[0]].add(LogStatement(*map(str, line[2:])))
    return tuple(map(frozenset, found))


def parse_classes(lines: Iterable[Sequence[Any]], jars: int) -> tuple[Mapping[str, ClassFacts], ...]:
    """Return the classes of each of so many jars by name, as the reader's answer describes them.

    A module's description is a class file and no class: on a class path nothing reads it, and no JVM loads it.
    """
    found: tuple[dict[str, ClassFacts], ...] = tuple({} for _ in range(jars))
    for line in lines:
        facts = parse_class(line)
        if not facts.access & _MODULE:
            found[line[0]].setdefault(facts.name, facts)
    return found


def parse_class(line: Sequence[Any]) -> ClassFacts:
    """Return the class that a line of the reader's answer describes."""
    _, entry, name, major, access, superclass, interfaces, fields, methods = line
    return ClassFacts(
        name=name,
        major=major,
        access=access,
        superclass=superclass,
        interfaces=tuple(interfaces),
        fields=tuple(FieldFacts(*each) for each in fields),
        methods=tuple(_method(*each) for each in methods),
        entry=entry,
    )


def _method(
    name: str,
    descriptor: str,
    access: int,
    exceptions: list[str],
    code: str,
    uses: list[list[Any]],
    operations: Sequence[str] = (),
) -> MethodFacts:
    made = tuple(Use(*each) for each in uses)
    return MethodFacts(name, descriptor, access, tuple(exceptions), code, made, tuple(operations))


def _ask(tools: BytecodeTools, what: Sequence[str], jars: Sequence[Path]) -> list[list[Any]]:
    for jar in jars:
        open_library(jar).close()  # refuses what is no jar; the reader takes one entry after another
    path, words = (tools.classes, *tools.asm), [*what, *(str(jar.absolute()) for jar in jars)]
    try:
        said = answer_of(tools.java, "ClassFacts", *words, class_path=path, options=[_MEMORY], seconds=_SECONDS)
    except NoAnswer as error:
        raise HarnessError(f"The classes of {_named(jars)} could not be read: {error}.") from error
    return _checked([json.loads(line) for line in said.splitlines()], jars)


def _checked(lines: list[list[Any]], jars: Sequence[Path]) -> list[list[Any]]:
    for line in lines:
        if line[1] == _BROKEN:
            raise HarnessError(
                f"{line[2]} in {jars[line[0]]} is not a class file that can be read: {line[3]}.",
                "The jar is damaged, or made for a Java newer than this harness knows.",
            )
    return lines


def _named(jars: Sequence[Path]) -> str:
    return ", ".join(jar.name for jar in jars[:3]) + (f" and {len(jars) - 3} more" if len(jars) > 3 else "")
