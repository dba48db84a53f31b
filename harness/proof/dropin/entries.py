"""Entries, resources, manifest and signatures of two jars, compared; classes are compared elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from harness.base.archives import is_class, open_archive, open_library, read_entry, twins_in
from harness.base.manifests import MANIFEST, parse_manifest
from harness.kafka.distribution import VERSION_ENTRY, version_in_properties
from harness.kafka.release_lines import same_line
from harness.model.proof import Difference, Severity
from harness.proof.bytecode import ClassFacts
from harness.proof.dropin import rules

_MODULE = "module-info.class"
_MULTI_RELEASE = "multi-release"
_VERSIONED = re.compile(r"META-INF/versions/[^/]+/(.+)", re.IGNORECASE)
_SIGNATURE = re.compile(r"META-INF/(SIG-[^/]*|[^/]+\.(SF|RSA|DSA|EC))", re.IGNORECASE)
_TEXT = re.compile(r"(META-INF/)?(LICENSE|NOTICE|DEPENDENCIES|README)[^/]*|META-INF/maven/.+", re.IGNORECASE)
_LOADING = (
    "class-path",
    _MULTI_RELEASE,
    "launcher-agent-class",
    "premain-class",
    "agent-class",
    "boot-class-path",
    "add-opens",
    "add-exports",
    "enable-native-access",
    "can-",
    "sealed",
)
# Nodes are started from a class path, on which a module's name says nothing.
_PRODUCT = ("version", "implementation-", "specification-", "main-class", "automatic-module-name")

_COMMENT = re.compile(rb"^[ \t]*//.*$", re.MULTILINE)
_UNREAD = "; no class of this Kafka names it"


@dataclass(frozen=True, slots=True)
class JarFacts:
    """A jar's entries but for folders, in the file's order; content of those that are no classes; its manifest.

    A class for certain Java versions alone is read as a resource: it is not among those that are compared elsewhere.

    Manifest attributes are those of the main section, names in lower case. `twins` are the entries that are there more
    than once, with the content of each.
    """

    names: tuple[str, ...]
    resources: Mapping[str, bytes]
    manifest: Mapping[str, str]
    twins: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)


def read_jar(path: Path) -> JarFacts:
    """Return what a jar holds other than its classes. Raises HarnessError for what is no jar, or a damaged one."""
    with open_archive(path) as archive:
        names = tuple(name for name in archive.namelist() if not name.endswith("/"))
        wanted = (name for name in names if not is_class(name) or _VERSIONED.fullmatch(name))
        resources = {name: read_entry(archive, name) for name in wanted}
        twins = twins_in(archive)
    manifests = [parse_manifest(resources[name]) for name in names if name.upper() == MANIFEST]  # as Java looks for it
    return JarFacts(names, resources, {key: value for each in manifests for key, value in each.items()}, twins)


def entries_of(jars: Iterable[Path], names: Set[str]) -> dict[str, frozenset[bytes]]:
    """Return what the jars have under these names. Raises HarnessError for what is no jar, or a damaged one."""
    found: dict[str, frozenset[bytes]] = {}
    for jar in jars if names else ():
        with open_library(jar) as archive:
            for entry in archive.infolist():
                if (name := entry.filename) in names:
                    found[name] = found.get(name, frozenset()) | {read_entry(archive, entry)}
    return found


def missing_resources(base: JarFacts, candidate: JarFacts) -> frozenset[str]:
    """Return the resources that the candidate lacks; the attributes of a manifest are compared instead."""
    return frozenset(_only(base.resources, candidate.resources)) - {MANIFEST}


def names_in_code(name: str) -> frozenset[str]:
    """Return what a class that reads a resource has in it: the file's name, or its stem where Java adds the ending."""
    path = PurePosixPath(name)
    return frozenset({path.name, path.stem} if path.suffix == ".properties" else {path.name})


def compare_entries(
    base: JarFacts, candidate: JarFacts, elsewhere: Mapping[str, Collection[bytes]], unread: Set[str] = frozenset()
) -> Iterator[Difference]:
    """Yield what differs between two jars' lists of entries and their resources.

    `elsewhere` is what other jars have under the names of those that are missing: on a class path nobody can tell whose
    is read, so that nobody misses one that another jar has alike. `unread` are those of which no class has the name:
    what the build left beside the code that it made of them, as the schemas of Kafka's messages.
    """
    yield from _duplicates(base, candidate)
    for name in sorted(missing_resources(base, candidate)):
        if found := _VERSIONED.fullmatch(name):
            yield _versioned(name, found[1], base, "is missing: ")
            continue
        alike = any(_says_the_same(name, base.resources[name], each) for each in elsewhere.get(name, ()))
        rule = rules.ENTRY_MISSING.weighing(Severity.WARNING) if alike else rules.ENTRY_MISSING
        more = "; another jar has it, on the same class path" if alike else ""
        if name in unread and not alike:
            rule, more = rules.ENTRY_MISSING.weighing(Severity.WARNING), _UNREAD
        yield (rules.TEXT_CHANGED if _TEXT.fullmatch(name) else rule).broken(name, f"{name} is missing{more}")
    for name in _only(dict.fromkeys(candidate.names), dict.fromkeys(base.names)):
        versioned = _VERSIONED.fullmatch(name)
        if versioned:
            yield _versioned(name, versioned.group(1), candidate)
        elif name in candidate.resources:
            yield rules.ENTRY_ADDED.broken(name, f"{name} is new, and no class")
    for name in _comparable(base, candidate):
        if base.resources[name] == candidate.resources[name]:
            continue
        if found := _VERSIONED.fullmatch(name):
            yield _versioned(name, found[1], candidate, "has another content: ")
        else:
            is_text = _TEXT.fullmatch(name) or _says_the_same(name, base.resources[name], candidate.resources[name])
            rule = rules.TEXT_CHANGED if is_text else rules.RESOURCE_CHANGED
            yield rule.broken(name, f"{name} has another content", *_sizes(name, base, candidate))


def _duplicates(base: JarFacts, candidate: JarFacts) -> Iterator[Difference]:
    """Yield what is there more than once, and not so in base: which of them is read, nobody can tell."""
    for name, every in candidate.twins.items():
        if every == base.twins.get(name):
            continue
        same = len(set(every)) == 1
        harmless = same or _TEXT.fullmatch(name)
        rule = rules.ENTRY_DUPLICATE.weighing(Severity.WARNING) if harmless else rules.ENTRY_DUPLICATE
        how = "each with the same content" if same else "not with the same content"
        before = base.names.count(name)
        yield rule.broken(name, f"{name} is there {len(every)} times, {how}", str(before), str(len(every)))


def compare_manifests(base: JarFacts, candidate: JarFacts) -> Iterator[Difference]:
    """Yield the attributes of the manifest's main section that differ."""
    for name in sorted(base.manifest.keys() | candidate.manifest.keys()):
        old, new = base.manifest.get(name, ""), candidate.manifest.get(name, "")
        if old != new:
            rule = _manifest_rule(name)
            if name == _MULTI_RELEASE and not any(map(_hidden_by(candidate), candidate.names)):
                rule = rule.weighing(Severity.NOTE)  # as any jar has it that describes a module for later Javas
            yield rule.broken(name, f"the manifest's {name} is {new or 'missing'}", old, new)


def compare_signatures(base: JarFacts, candidate: JarFacts, elsewhere: Set[str]) -> Iterator[Difference]:
    """Yield other signers than base's. `elsewhere` are the packages that other jars have classes in.

    The JVM refuses a class whose package has one of another signer. Where no other jar has a class, none can be.
    """
    old, new = _signers(base), _signers(candidate)
    shared = sorted(packages_of(candidate.names) & elsewhere)
    if old != new:
        rule = rules.SIGNATURE_CHANGED if shared else rules.SIGNATURE_CHANGED.weighing(Severity.NOTE)
        signed = f"the jar is {_signed_by(new)}, base is {_signed_by(old)}"
        also = f"another jar has classes in {shared[0]} too" if shared else "no other jar shares a package"
        yield rule.broken("META-INF", f"{signed}; {also}", ", ".join(old), ", ".join(new))


def misplaced(candidate: Mapping[str, ClassFacts]) -> Iterator[Difference]:
    """Yield class files whose entry is not where a class loader looks for the class that they hold."""
    for facts in candidate.values():
        if facts.entry != f"{facts.name}.class":
            yield rules.ENTRY_MISPLACED.broken(facts.entry, f"{facts.entry} holds the class {facts.name}")


def packages_of(entries: Iterable[str]) -> frozenset[str]:
    """Return the packages of the classes among a jar's entries; a module's description is none."""
    every = (name.rpartition("/") for name in entries if name.endswith(".class") and not name.startswith("META-INF/"))
    return frozenset(package for package, _, name in every if name != _MODULE)


def _signers(jar: JarFacts) -> list[str]:
    """Return the names of a jar's signers: those of its signature files."""
    return sorted({PurePosixPath(name).stem.upper() for name in filter(_SIGNATURE.fullmatch, jar.names)})


def _signed_by(signers: Sequence[str]) -> str:
    return f"signed by {', '.join(signers)}" if signers else "not signed"


def _versioned(name: str, hidden: str, jar: JarFacts, how: str = "") -> Difference:
    """Return what an entry for certain Java versions means: it hides another one in a multi-release jar alone.

    `jar` is the one that has it, `how` says in what it differs, empty for a new one.
    """
    whose = f"{name} {how}it" if how else name
    if _hidden_by(jar)(name) and jar.manifest.get(_MULTI_RELEASE, "").lower() == "true":
        return rules.ENTRY_VERSIONED.broken(name, f"{whose} hides {hidden} from certain Java versions")
    note = rules.ENTRY_VERSIONED.weighing(Severity.NOTE)
    return note.broken(name, f"{whose} is for certain Java versions only, and hides nothing")


def _hidden_by(jar: JarFacts) -> Callable[[str], str]:
    """Return what says which of a jar's entries another one hides from certain Java versions, empty for none.

    On a class path nobody reads a module's description.
    """
    names = frozenset(jar.names) - {_MODULE}

    def hidden(name: str) -> str:
        found = _VERSIONED.fullmatch(name)
        return found[1] if found and found[1] in names else ""

    return hidden


def _comparable(base: JarFacts, candidate: JarFacts) -> list[str]:
    both = base.resources.keys() & candidate.resources.keys()
    return sorted(name for name in both if name != MANIFEST and not _SIGNATURE.fullmatch(name))


def _only(these: Mapping[str, object], those: Mapping[str, object]) -> list[str]:
    return sorted(name for name in these if name not in those and not _SIGNATURE.fullmatch(name))


def _says_the_same(name: str, one: bytes, other: bytes) -> bool:
    """Whether two resources are the same to whoever reads them.

    So is the version file while its release line stays, and a schema of a message but for what explains it.
    """
    if name == VERSION_ENTRY:
        return same_line(*(version_in_properties(each.decode("utf-8", "replace")) for each in (one, other)))
    return one == other or (name.endswith(".json") and _schema(one) == _schema(other) is not None)


def _schema(content: bytes) -> object:
    """Return a schema of a message, as Kafka's generator reads it, without its `about`; None for what is none."""
    try:
        return json.loads(_COMMENT.sub(b"", content), object_hook=_unexplained)
    except (ValueError, RecursionError):
        return None


def _unexplained(table: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in table.items() if name != "about"}


def _sizes(name: str, base: JarFacts, candidate: JarFacts) -> tuple[str, str]:
    return f"{len(base.resources[name])} bytes", f"{len(candidate.resources[name])} bytes"


def _manifest_rule(name: str) -> rules.Rule:
    if name.startswith(_LOADING):
        return rules.MANIFEST_LOADING
    return rules.MANIFEST_CHANGED if name.startswith(_PRODUCT) else rules.MANIFEST_BUILD
