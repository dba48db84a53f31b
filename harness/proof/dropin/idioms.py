"""What compilers write into class files on their own: it stands in no source, and each does it its own way.

Found by comparing what javac 8, 17 and 25, and ecj, make of the same sources.
"""

from __future__ import annotations

from dataclasses import replace

from harness.proof.bytecode import MethodFacts, Use

_BRIDGE, _SYNTHETIC = 0x40, 0x1000
_OWNERS = frozenset(
    (
        "java/lang/StringBuilder",  # + on strings
        "java/lang/AssertionError",
        "java/lang/NoSuchFieldError",  # tables of enum switches
        "java/lang/NoClassDefFoundError",
        "java/lang/IncompatibleClassChangeError",
        "java/lang/MatchException",
    )
)
_MEMBERS = frozenset(
    (
        "java/util/Objects.requireNonNull",  # null checks of what a lambda or an inner class holds
        "java/lang/Object.getClass",
        "java/lang/String.valueOf",  # + on strings
        "java/lang/System.arraycopy",  # an enum's values()
        "java/lang/Class.desiredAssertionStatus",
        "java/lang/Throwable.addSuppressed",  # try with resources, whose close() is written once or more
    )
)
_ANYBODYS = ("close()V", "ordinal()I", "values()[L")  # the latter two in switches over enums
_OBJECTS = frozenset(
    (
        ("equals", "(Ljava/lang/Object;)Z"),
        ("hashCode", "()I"),
        ("toString", "()Ljava/lang/String;"),
        ("getClass", "()Ljava/lang/Class;"),
    )
)
LAMBDA = "lambda$"  # with a number behind it
SWITCH_MAP = "$SwitchMap$"  # what javac calls the table of a switch over an enum, ecj:
_SWITCH_TABLE = "$SWITCH_TABLE$"


def is_compilers_own(use: Use) -> bool:
    """Whether a use may be a compiler's doing, so that its presence says nothing about the source."""
    return (
        use.kind == "type"  # casts for generics, catches of try-with-resources
        or "$" in use.name
        or any(part[:1].isdigit() for part in use.owner.split("$")[1:])
        or use.owner in _OWNERS
        or f"{use.owner}.{use.name}" in _MEMBERS
        or f"{use.name}{use.descriptor}".startswith(_ANYBODYS)
    )


def canonical(use: Use) -> Use:
    """Return the use with Object's own methods as such: newer compilers name the type that they are called on."""
    inherited = use.kind == "call" and (use.name, use.descriptor) in _OBJECTS
    return replace(use, owner="java/lang/Object") if inherited else use


def is_bridge(method: MethodFacts) -> bool:
    """Whether a method only passes on to one of the source, whose types are narrower."""
    return bool(method.access & _BRIDGE)


def is_lambda(method: MethodFacts) -> bool:
    """Whether a method is the body of a lambda."""
    return bool(method.access & _SYNTHETIC) and method.name.startswith(LAMBDA)


def is_switch_table(method: MethodFacts) -> bool:
    """Whether a method maps an enum's constants for a switch, where javac writes a class."""
    return bool(method.access & _SYNTHETIC) and method.name.startswith(_SWITCH_TABLE)
