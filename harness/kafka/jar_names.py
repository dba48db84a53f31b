"""What the name of a jar says: of which module it is, and in which version; pure."""

from __future__ import annotations

import re
from typing import NamedTuple

# Of log4j-1.2-api-2.25.3.jar the version is the last of both numbers; that of netty-buffer-4.1.0.Final-redhat-1.jar
# begins at the first. So does that of Kafka's own modules, whatever their maker added (kafka-raft-3.9.1-acme-2.1.jar).
_OWN = re.compile(r"(?P<module>(?:kafka|connect|trogdor)[-_].+?)-(?P<version>\d[^/]*)\.jar")
_NAME = re.compile(r"(?P<module>.+?)-(?P<version>\d(?:(?!-[a-z]+-\d+\.\d)[^/])*)\.jar")


class JarName(NamedTuple):
    """A module as Maven names it, with the Scala version where it has one, and the module's version."""

    module: str
    version: str


def jar_name(name: str) -> JarName | None:
    """Return what the name of a file says; None where it is not that of a jar with a version."""
    found = _OWN.fullmatch(name) or _NAME.fullmatch(name)
    return JarName(found["module"], found["version"]) if found else None
