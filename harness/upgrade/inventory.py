"""The inventory of a Kafka: what its classes, its help and its sources say, kept by the digest of its jars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.recordfile import RecordFile
from harness.base.text import listed
from harness.building.builders.base import AUTO, BuildHost, host_compiler
from harness.building.compiling import Builder
from harness.building.configdef import CONFIG_SOURCE, prepare_probe
from harness.building.every_config import read_every_config
from harness.building.java_programs import NoAnswer, answer_of, compiled_probe
from harness.kafka.distribution import Distribution
from harness.kafka.release_lines import line_of
from harness.kafka.versions import release_of
from harness.logs.read.library import library
from harness.model.kafka_inventory import SCHEMA, KafkaInventory, Logged
from harness.toolbox.toolbox import Toolbox
from harness.upgrade.commands import HELP_SOURCE, HelpProbe, commands_of, script_texts, scripts_file, scripts_of
from harness.upgrade.jar_facts import digest_of, java_needed, libraries_of, logging_of
from harness.upgrade.modules import Modules

_NAMES_SOURCE = Path(__file__).with_name("KafkaNames.java")
_ASKING = tuple(sorted(path for path in Path(__file__).parent.iterdir() if path.suffix in (".java", ".py")))
_NAMES_SECONDS = 60
_OF_COMMANDS = ("org/apache/kafka/tools/", "kafka/admin/", "kafka/tools/")


@dataclass(frozen=True, slots=True)
class Bench:
    """What Kafkas are asked with; `report` gets progress."""

    toolbox: Toolbox
    compiler: Builder
    report: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Names:
    """What numbers of the protocol stand for: requests, and levels of `metadata.version`."""

    requests: dict[int, str]
    metadata_versions: dict[int, str]


def bench_for(kafka: Distribution, toolbox: Toolbox, report: Callable[[str], None]) -> Bench:
    """Return a bench whose compiler works on this host. Raises HarnessError."""
    target = line_of(kafka.version).class_files
    return Bench(toolbox, host_compiler(AUTO, BuildHost(toolbox, target, report)), report)


def read_classes(kafka: Distribution, modules: Modules, scripts: Path | None, bench: Bench) -> KafkaInventory:
    """Return what modules of a Kafka say without a node; asked once for the same jars, and kept where nothing lacked.

    `scripts` is the bin/ that says which commands there are; without it the jars say so. Raises HarnessError when its
    classes cannot be loaded.
    """
    logged = _logged(kafka.version)
    digest = _digest(modules, scripts, logged, bench.toolbox.node_java().version)
    kept = RecordFile(
        bench.toolbox.cache / "inventories" / f"{digest}.json.gz", KafkaInventory, SCHEMA, remedy="Delete the file."
    )
    if kept.exists:  # perhaps from another folder
        return replace(kept.read(), version=kafka.version, description=kafka.description)
    bench.report(f"{kafka.description}: reading its configuration, commands and log statements")
    read = _read(kafka, modules, scripts, digest, logged, bench)
    if not read.gaps:
        kept.write(read)
    return read


def _digest(modules: Modules, scripts: Path | None, logged: tuple[Logged, ...], java: str) -> str:
    """Return the digest of everything that the answer depends on: the Java too, which some defaults go by."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in (CONFIG_SOURCE, *_ASKING)}
    texts |= script_texts(scripts) if scripts else {"scripts": scripts_file().read_text(encoding="utf-8")}
    return digest_of(modules.jars, {**texts, "log statements": "\n".join(map(str, logged)), "java": java})


def _read(
    kafka: Distribution, modules: Modules, scripts: Path | None, digest: str, logged: tuple[Logged, ...], bench: Bench
) -> KafkaInventory:
    java = bench.toolbox.node_java()
    probe = prepare_probe(bench.compiler, java, kafka.jars, bench.toolbox.cache)
    declared = read_every_config(probe, modules.jars)
    started = scripts_of(modules.jars, scripts)
    tools = HelpProbe(compiled_probe(bench.compiler, HELP_SOURCE, kafka.jars, bench.toolbox.cache), java)
    commands, silent = commands_of(started, modules.jars, tools)
    return KafkaInventory(
        SCHEMA,
        kafka.version,
        kafka.description,
        digest,
        java_needed(kafka.jars),
        logging_of(kafka.jars),
        libraries_of(kafka.jars, kafka.version),
        declared.owners,
        commands,
        logged,
        gaps=tuple(_gaps(kafka, declared.unread, logged, silent)),
        unread=tuple(declared.unread),
    )


def _gaps(
    kafka: Distribution, unread: Mapping[str, str], logged: tuple[Logged, ...], silent: Sequence[str]
) -> Iterator[str]:
    classes: dict[str, list[str]] = defaultdict(list)
    for owner, why in unread.items():
        classes[why].append(owner.rpartition(".")[2])
    for why, names in classes.items():
        yield f"The configuration of {', '.join(names)} of Kafka {kafka.version} could not be read: {why}"
    if silent:
        yield f"The options of {listed(silent)} of Kafka {kafka.version} are not known: they gave no help."
    if not logged:
        version = release_of(kafka.version)
        yield f"The log statements of Kafka {version} are not known; `harness lock {version}` reads them."


def whose_statements(version: str) -> str:
    """Return the version whose log statements are taken: of a vendor's without any that of its release."""
    return version if library(version).statements else release_of(version)


def _logged(version: str) -> tuple[Logged, ...]:
    """Return the log statements of a version as an operator meets them.

    Those of commands are left out: they log to a terminal, and which module has them changes from line to line.
    """
    return tuple(
        Logged(each.file, each.owner, each.level, each.text)
        for each in library(whose_statements(version)).statements
        if not each.file.startswith(_OF_COMMANDS)
    )


def read_names(kafka: Distribution, bench: Bench) -> Names:
    """Ask a Kafka's own classes for names. Raises HarnessError when they cannot be loaded."""
    classes = compiled_probe(bench.compiler, _NAMES_SOURCE, (), bench.toolbox.cache)
    java, path = bench.toolbox.node_java(), (*kafka.jars, classes)
    try:
        said = answer_of(java, "KafkaNames", class_path=path, seconds=_NAMES_SECONDS)
    except NoAnswer as error:
        raise HarnessError(f"{kafka.description} does not name its requests: {error}") from error
    rows = [line.split(" ", 2) for line in said.splitlines() if line.startswith(("api ", "metadata.version "))]
    if not rows:
        raise HarnessError(f"{kafka.description} does not name its requests: what was printed has none.")
    return Names(
        {int(number): name for kind, number, name in rows if kind == "api"},
        {int(number): name for kind, number, name in rows if kind == "metadata.version"},
    )
