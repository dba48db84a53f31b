"""What an operator meets in one Kafka: its configuration, commands, metrics, protocol, log lines, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SCHEMA = 1
REQUIRED = "required"  # in place of the default of a key that has none


@dataclass(frozen=True, slots=True)
class DeclaredKey:
    """A configuration key of one ConfigDef, each part as Kafka prints it; `default` is REQUIRED where there is none.

    `internal` keys are in no documentation (`ConfigDef.defineInternal`).
    """

    name: str
    type: str
    default: str
    validator: str
    importance: str
    internal: bool = False
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class ConfigOwner:
    """What one class declares, by its full name; `#` and a member of it where it has several ConfigDefs."""

    owner: str
    keys: tuple[DeclaredKey, ...]


@dataclass(frozen=True, slots=True)
class CommandOption:
    """An option of a command by its help; `default` is empty where the help names none.

    `name` is the longest of its names, `others` are all others (`-t` of `--cluster-id`).
    """

    name: str
    required: bool = False
    default: str = ""
    deprecated: bool = False
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of its names, the longest first."""
        return (self.name, *self.others)


@dataclass(frozen=True, slots=True)
class Command:
    """A script of bin/, or one with a command of its own (`kafka-storage.sh format`), and what it starts."""

    name: str
    main: str
    options: tuple[CommandOption, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """A bean in JMX, numbers in the values of its name as `N`; `kind` is meter, gauge and the like.

    `attributes` are types of values by attribute (`Double`), or the unit that an attribute names (`unit:MILLISECONDS`).
    `steady` is one that every boot had at the end of the same small workload; `by_chance` are those of its attributes
    that not every boot had.
    """

    name: str
    kind: str
    attributes: Mapping[str, str]
    steady: bool = True
    by_chance: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Api:
    """A request that a listener serves, by its API key, and the lowest and highest version of it."""

    listener: str
    number: int
    name: str
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that a node supports, from which to which level, and the level that a new cluster begins with.

    `names` are those of its levels, such as 7: `3.3-IV3` of `metadata.version`.
    """

    name: str
    lowest: int
    highest: int
    at_first: int
    names: Mapping[int, str] = field(default_factory=dict)

    def level(self, number: int) -> str:
        """Return a level as people write it: `3.3-IV3 (7)`."""
        return f"{self.names[number]} ({number})" if number in self.names else str(number)


@dataclass(frozen=True, slots=True)
class Logged:
    """A log statement of the sources: file, innermost class, level, and its text with `{}` for values."""

    file: str
    owner: str
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Boot:
    """What one start of a single node (controller and broker, Kafka's own JVM options) cost.

    Seconds from the start until it serves clients, CPU seconds in that time; then, after the same small workload, the
    CPU seconds per minute that it takes when nothing is asked of it, the live heap after a collection and the resident
    memory in MB, and its threads.
    """

    ready_seconds: float
    ready_cpu_seconds: float
    idle_cpu_per_minute: float
    live_heap_mb: float
    resident_mb: float
    threads: int


@dataclass(frozen=True, slots=True)
class KafkaInventory:
    """One Kafka as its operator meets it.

    `java` are the releases that its class files need: of a node, and of an application with its clients. `libraries`
    are versions of jars that are not Kafka's own. `digest` is that of everything that was read. `gaps` are sentences
    about what could not be read, `unread` the classes whose configuration could not. `booted_on` is the day (UTC) of
    its boots.
    """

    schema: int
    version: str
    description: str
    digest: str
    java: Mapping[str, int] = field(default_factory=dict)
    logging: str = ""
    libraries: Mapping[str, str] = field(default_factory=dict)
    configuration: tuple[ConfigOwner, ...] = ()
    commands: tuple[Command, ...] = ()
    statements: tuple[Logged, ...] = ()
    metrics: tuple[Metric, ...] = ()
    apis: tuple[Api, ...] = ()
    features: tuple[Feature, ...] = ()
    boots: tuple[Boot, ...] = ()
    gaps: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    booted_on: str = ""
