"""Descriptors of methods as class files have them (Java Virtual Machine Specification, 4.3.3), in Java's own words."""

from __future__ import annotations

import re

_TYPE = re.compile(r"(\[*)(?:L([^;]+);|([BCDFIJSZ]))")
_PRIMITIVES = dict(zip("BCDFIJSZ", ("byte", "char", "double", "float", "int", "long", "short", "boolean"), strict=True))


def parameter_types(descriptor: str) -> tuple[str, ...]:
    """Return the types of the parameters: `int, java.lang.String[]` for `(I[Ljava/lang/String;)V`."""
    listed = descriptor.partition(")")[0]
    return tuple(
        f"{found[2].replace('/', '.') if found[2] else _PRIMITIVES[found[3]]}{'[]' * len(found[1])}"
        for found in _TYPE.finditer(listed)
    )
