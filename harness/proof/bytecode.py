"""Class files as facts: what a class declares, and what each of its methods does in order; read by ASM in a JVM."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Use:
    """One instruction that refers to a member or class, at a source line (0 when the class file tells none).

    `kind` is `call` (any invoke), `get` or `put` (a field), `new`, or `type` (cast, instanceof, class constant).
    """

    kind: str
    owner: str
    name: str
    descriptor: str
    line: int


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """A method: flags as in the class file, checked exceptions, a digest of its instructions, and its uses in order.

    `code` is the SHA-256 of the instructions with constants resolved, so that the order of the constant pool, line
    numbers and names of local variables make no difference; empty for a method without code.
    """

    name: str
    descriptor: str
    access: int
    exceptions: tuple[str, ...]
    code: str
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """A field; `constant` is its constant value as text, empty when it has none."""

    name: str
    descriptor: str
    access: int
    constant: str


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class; names have slashes (`org/apache/kafka/raft/QuorumConfig`), `major` is the class file's version."""

    name: str
    major: int
    access: int
    superclass: str
    interfaces: tuple[str, ...]
    fields: tuple[FieldFacts, ...]
    methods: tuple[MethodFacts, ...]
