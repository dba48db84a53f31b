"""The rules of the drop-in proof: a stable name, how much a difference weighs, and what breaks it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.base.text import cut, visible
from harness.model.proof import ERROR_ADDED, Difference, Severity

_MOST_SHOWN = 600  # characters: a difference is a sentence, not a dump


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `description` says what breaks it."""

    name: str
    severity: Severity
    description: str

    def weighing(self, severity: Severity) -> Rule:
        """Return the same rule with another weight: some weigh by what is known of the candidate."""
        return replace(self, severity=severity)

    def broken(self, where: str, detail: str, base: str = "", candidate: str = "") -> Difference:
        """Return the difference that this rule found; what the jar's maker named cannot act on who reads it."""
        where, detail, base, candidate = (visible(text) for text in (where, detail, base, candidate))
        return Difference(
            self.name, self.severity, where, *(cut(text, _MOST_SHOWN) for text in (detail, base, candidate))
        )


def fail(name: str, description: str) -> Rule:
    """Return a rule whose difference makes the jar no drop-in."""
    return Rule(name, Severity.FAIL, description)


def warn(name: str, description: str) -> Rule:
    """Return a rule whose difference is to be read and does not decide."""
    return Rule(name, Severity.WARNING, description)


def note(name: str, description: str) -> Rule:
    """Return a rule whose difference is expected."""
    return Rule(name, Severity.NOTE, description)


ENTRY_DUPLICATE = fail(
    "entry-duplicate",
    "two entries have one name: tools and the JVM may read either (a warning where they are the same, or texts)",
)
ENTRY_MISSING = fail(
    "entry-missing",
    "an entry of base is missing (a warning where another jar has it alike, or where no class names it)",
)
ENTRY_ADDED = warn("entry-added", "an entry is new that is no class")
ENTRY_VERSIONED = fail(
    "entry-versioned", "an entry for certain Java versions hides one of the jar's own (META-INF/versions)"
)
ENTRY_MISPLACED = fail("entry-misplaced", "a class file holds a class of another name than its entry")
RESOURCE_CHANGED = fail("resource-changed", "a schema, service or other file that code reads has changed")
TEXT_CHANGED = warn("text-changed", "a licence, notice or build identification has changed or is missing")
MANIFEST_LOADING = fail("manifest-loading", "a manifest attribute that decides how classes are loaded has changed")
MANIFEST_CHANGED = warn("manifest-changed", "a manifest attribute that names the product or its version has changed")
MANIFEST_BUILD = note("manifest-build", "other manifest attributes differ, such as who built it")
SIGNATURE_CHANGED = fail("signature-changed", "the signers are others than base's, and another jar shares a package")

BYTECODE_LEVEL = fail("bytecode-level", "a class needs a newer Java than base's classes do")
NEWER_JAVA = fail(
    "newer-java",
    "the jar calls what a newer Java than base needs has (a warning where a compiler of the harness made it so)",
)
CLASS_HIDES = fail("class-hides", "a class is new that another jar of the distribution has: either of them may run")
CLASS_MISSING = fail("class-missing", "a class of base is missing")
MEMBER_REMOVED = fail("member-removed", "a field, method or constructor of base that other packages can use is missing")
CONSTANT_CHANGED = fail("constant-changed", "a compile-time constant has another value: other jars hold the old one")
UNNAMED_CLASS_ADDED = fail("unnamed-class-added", "a class is new that is not named")
UNNAMED_CLASS_API = fail("unnamed-class-api", "a class that is not named declares something else")
UNNAMED_CLASS_CALLS = fail("unnamed-class-calls", "a class that is not named calls something else")
UNNAMED_CLASS_CODE = warn("unnamed-class-code", "a class that is not named has other instructions")
BLOCKS_OR_ENDS = fail(
    "blocks-or-ends", "the thread that drives Raft may newly sleep, wait, look up names, end the JVM or start a process"
)
BLOCKS_ELSEWHERE = warn("blocks-elsewhere", "a class newly does so, but not on the thread that drives Raft")
NO_LONGER_DURABLE = fail(
    "no-longer-durable",
    "what makes a write durable or atomic in base is gone from it: a sync, a flush (a warning where others still do "
    "it, or something else may)",
)
NO_LONGER_VOLATILE = warn("no-longer-volatile", "a field of base is not volatile any more, and not final either")
NO_LONGER_SYNCHRONIZED = warn(
    "no-longer-synchronized", "a method of base is not synchronized any more or takes no lock any more"
)
NAMED_CLASS_ADDED = note("named-class-added", "a class is new that the series or the claims name")
NAMED_CLASS_CHANGED = note("named-class-changed", "a class that the series or the claims name has changed")
GENERATED_CHANGED = fail("generated-changed", "a generated message class has changed")
GENERATED_CODE = warn(
    "generated-code", "a generated message class has other instructions, which may be the compiler's doing"
)

API_BINARY = fail("api-binary", "code compiled against base no longer runs")
API_UNREADABLE = fail("api-unreadable", "the jar's classes cannot be read for the comparison of APIs")
API_SOURCE = warn("api-source", "code written for base no longer compiles")
LINKAGE_BROKEN = fail(
    "linkage-broken",
    "a reference from another jar resolves no longer or to something else, or a class lacks a new abstract method",
)
LOADING_BROKEN = fail("loading-broken", "a class does not load, verify or link among the distribution's jars")
REFERENCE_UNRESOLVED = fail(
    "reference-unresolved", "the jar uses something of itself or another jar that is not there, or not as it uses it"
)

LOG_STATEMENT_GONE = warn(
    "log-statement-gone", "what base logs at INFO or louder the candidate does not, or quieter: an alert stays silent"
)
LOG_ERROR_ADDED = note(ERROR_ADDED, "an ERROR is new that base has in no words: where a run logs it, it is no noise")

CONFIG_UNREADABLE = fail("config-unreadable", "the configuration cannot be read from the jar")
CONFIG_NOT_COMPARED = note(
    "config-not-compared", "the keys of a class cannot be read from base, so that nobody knows whether they changed"
)
CONFIG_REMOVED = fail("config-removed", "a configuration key of base is missing")
CONFIG_CHANGED = fail(
    "config-changed",
    "a key has another type or validator, or refuses a value that base accepts (a warning where it is no address, or a "
    "number below 1)",
)
CONFIG_ACCEPTS_MORE = warn("config-accepts-more", "a key accepts a value that base refuses")
CONFIG_READ_OTHERWISE = fail(
    "config-read-otherwise", "a class makes something else of a key's value than base's does, or nothing"
)
DEFAULT_CHANGED = fail("default-changed", "a key has another default than in base, or than the claims say")
IMPORTANCE_CHANGED = warn("importance-changed", "a key has another importance")
CONFIG_ADDED = note("config-added", "the key of the claims' flag is new")
CONFIG_UNCLAIMED = warn("config-unclaimed", "a key is new that no claim speaks of")

ALL = tuple(each for each in list(globals().values()) if isinstance(each, Rule))
