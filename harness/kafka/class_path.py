"""What of an unpacked Kafka's class path nodes would run elsewhere than from the jars that are judged."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness.base.archives import entry_names, entry_of, is_class
from harness.base.errors import HarnessError
from harness.base.manifests import MANIFEST, parse_manifest

RAFT_CLIENT = "org/apache/kafka/raft/KafkaRaftClient.class"
RAFT_JAR = re.compile(r"kafka-raft-\d[^/]*\.jar")
_VERSIONED = re.compile(r"^META-INF/versions/\d+/")
_MODULE = "module-info.class"  # of every module
# What Kafka's start script leaves out of the class path (should_include_file of kafka-run-class.sh), and what nobody
# means to run and it takes all the same.
_LEFT_OUT = tuple(f"-{what}.jar" for what in ("src", "javadoc", "scaladoc", "test", "test-sources"))
_TAKEN = ("-sources.jar", "-tests.jar")
_NOT_CLASSES = (*_LEFT_OUT, *_TAKEN)


def is_jar(name: str) -> bool:
    """Whether it is a jar that Kafka's start script would see: the shell's `*` passes over what begins with a dot."""
    return name.endswith(".jar") and not name.startswith(".")


def holds_classes(jar: Path) -> bool:
    """Whether a jar is for the class path, and not one of sources, documentation or tests."""
    return not jar.name.endswith(_NOT_CLASSES)


def check_all_are_jars(libraries: Path, entries: Iterable[Path]) -> None:
    """See that all of libs/ that has classes is a jar: kafka-run-class.sh takes whatever lies there.

    Raises HarnessError for an archive of another name, such as a jar that was put aside, and for a folder. Also for a
    jar of tests or of sources that has classes: that script would run them.
    """
    for path in sorted(entries):
        if is_jar(path.name) and path.name.endswith(_TAKEN) and any(map(is_class, entry_names(path))):
            raise HarnessError(
                f"{libraries} holds {path.name}, whose classes Kafka's start script takes: nodes of the harness would "
                "not run them.",
                "Take it out of there.",
            )
        if not path.name.startswith(".") and not is_jar(path.name) and _has_classes(path):
            raise HarnessError(
                f"{libraries} holds {path.name}, which is no jar by its name: nodes that Kafka's start script starts "
                "would run what is in it, and those of the harness would not.",
                "Take it out of there.",
            )


def _has_classes(path: Path) -> bool:
    return any([*path.iterdir()]) if path.is_dir() else zipfile.is_zipfile(path)


def check_known_by_name(jars: Iterable[Path]) -> None:
    """See that each jar is one by the name of the file that a process opens, which a link may lead to.

    Raises HarnessError.
    """
    for jar in jars:
        if jar.resolve().suffix != ".jar":
            raise HarnessError(
                f"{jar} is a link to {jar.resolve().name}, which is no jar by its name: a node that has it open could "
                "not be seen to run it.",
                "Put a copy of the file in its place.",
            )


def check_nothing_hides(raft: Path, jars: Sequence[Path]) -> None:
    """See that the classes of the raft module are in one jar only: else the order of jars says which of them runs.

    Raises HarnessError.
    """
    own = {RAFT_CLIENT, *_classes_of(raft)}
    for jar in jars:
        hidden = own & _classes_of(jar) if jar != raft else set()
        if hidden:
            raise HarnessError(
                f"{jar} holds {min(hidden)}, as {raft.name} does: which of them nodes run depends on their order.",
                "Take one of them out of libs/, or name a Kafka without it.",
            )


def _classes_of(jar: Path) -> set[str]:
    return {_VERSIONED.sub("", name) for name in entry_names(jar) if is_class(name)} - {_MODULE}


def check_nothing_is_led_to(jars: Sequence[Path], *, of_an_archive: bool = False) -> None:
    """See that no manifest leads to further jars or folders (`Class-Path`): nodes would run their classes, too.

    What is not there does no harm. Of an archive only libs/ is there. Raises HarnessError.
    """
    known = {jar.resolve() for jar in jars}
    for jar in jars:
        for entry in _class_path_of(jar):
            target = _place_of(entry, jar)
            if target.resolve() not in known and (target.exists() or (of_an_archive and "/" in entry)):
                raise HarnessError(
                    f"{jar.name} leads to {entry} by the Class-Path of its manifest: nodes would run classes from "
                    "there, which nobody compares.",
                    "Put that jar into libs/, and take the entry out of the manifest.",
                )


def _class_path_of(jar: Path) -> list[str]:
    return parse_manifest(entry_of(jar, MANIFEST)).get("class-path", "").split()


def _place_of(entry: str, jar: Path) -> Path:
    """Return what an entry names: a URL that is seen from the jar's own folder."""
    try:
        return jar.parent / unquote(urlsplit(entry).path)
    except ValueError:
        return jar.parent / entry
