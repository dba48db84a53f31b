"""Is the jar a drop-in? What differs from base, by rule: entries, classes, API, linkage, loading, configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from harness.base.archives import entry_names
from harness.base.errors import HarnessError
from harness.building.builders.ecj import Ecj
from harness.building.configdef import Probe, prepare_probe
from harness.building.every_config import EveryConfig, read_used_config
from harness.kafka.distribution import Distribution
from harness.kafka.patching import Series
from harness.model.proof import ChangedMethod, Difference, Severity
from harness.proof.bytecode import BytecodeTools, Classes, prepare_bytecode, read_each, read_references, read_statements
from harness.proof.dropin import rules
from harness.proof.dropin.api import compare_apis
from harness.proof.dropin.blocking import compare_blocking
from harness.proof.dropin.class_changes import (
    Comparison,
    CompiledBaseline,
    Named,
    changed_methods,
    changed_top_level,
    closest,
    compare_levels,
    compare_members,
    compare_nests,
    compare_presence,
    compared,
    nests,
    visible,
)
from harness.proof.dropin.config_keys import compare_configurations
from harness.proof.dropin.constants import compare_constants, held_by
from harness.proof.dropin.durability import compare_durability
from harness.proof.dropin.entries import (
    JarFacts,
    compare_entries,
    compare_manifests,
    compare_signatures,
    entries_of,
    misplaced,
    missing_resources,
    names_in_code,
    packages_of,
    read_jar,
)
from harness.proof.dropin.guards import compare_guards
from harness.proof.dropin.hiding import compare_hidden
from harness.proof.dropin.implementing import Loader, check_implementing
from harness.proof.dropin.linkage import compare_lambdas, compare_linkage
from harness.proof.dropin.loading import newly_broken, prepare_loader
from harness.proof.dropin.log_statements import compare_errors, compare_statements
from harness.proof.dropin.named_elsewhere import weighed
from harness.proof.dropin.older_java import compare_older_java
from harness.proof.dropin.source_methods import Reading
from harness.toolbox.java import JavaRuntime
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

_AT_ONCE = 2  # JVMs side by side
_WORST_FIRST = (Severity.FAIL, Severity.WARNING, Severity.NOTE)
_COMPILER = {
    Reading.INSTRUCTIONS: "",
    Reading.OPERATIONS: (
        "no baseline was compiled by the candidate's compiler: methods are compared by what they use, compute and "
        "compare, not by the order in which they do so: a null check turned around, another number of a case or a "
        "throw that is gone is not noticed"
    ),
    Reading.USES: (
        "no baseline was compiled by the candidate's compiler, which arranges conditions in its own way: methods are "
        "compared only by what they use, so a changed constant or comparison is not noticed"
    ),
}
_OTHER_KAFKA = "The jar does not fit this Kafka or this Java: check which version it was built for, and --java-home."
_TOUCHED = re.compile(r"^--- (\S+).*\n\+\+\+ (\S+)", re.MULTILINE)
_JAVA = re.compile(r"[^/]+/raft/src/main/java/(.+)\.java")


@dataclass(frozen=True, slots=True)
class ProofTools:
    """What proves a jar: the Java that nodes run on, programs and jars that compare, and the Kafka that is meant."""

    java: JavaRuntime
    bytecode: BytecodeTools
    comparer: Path
    config: Probe
    loader: Path
    distribution: Distribution


@dataclass(frozen=True, slots=True)
class BaselineJar:
    """The sources that base was made from, compiled by `label`."""

    label: str
    jar: Path


@dataclass(frozen=True, slots=True)
class Subject:
    """What the candidate is meant to be.

    `named` are the top-level classes that may change (`org/apache/kafka/raft/QuorumConfig`): those that its series or
    its claims name, None where nothing says which. `flag` and `flag_default` are those of its claims; `baselines` are
    at hand beside base itself. `builder` made it here, empty for a jar that somebody else made.
    """

    named: Named = None
    flag: str = ""
    flag_default: str = ""
    baselines: tuple[BaselineJar, ...] = ()
    builder: str = ""


@dataclass(frozen=True, slots=True)
class DropIn:
    """The names of all rules that were checked, the differences they found, worst first, and notes for the reader.

    `changed` are the top-level classes, with dots, that are not those of the closest baseline, or of which a nested one
    is not; `changed_methods` are the methods that do something else.
    """

    looked_at: tuple[str, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    changed: frozenset[str]
    changed_methods: tuple[ChangedMethod, ...]


def prepare_tools(ecj: Ecj, toolbox: Toolbox, distribution: Distribution) -> ProofTools:
    """Fetch and compile what a proof needs, into the cache. Raises HarnessError when something cannot be had."""
    return ProofTools(
        java=ecj.runtime,
        bytecode=prepare_bytecode(ecj, toolbox),
        comparer=toolbox.tool(Purpose.COMPARER),
        config=prepare_probe(ecj, ecj.runtime, distribution.jars, toolbox.cache),
        loader=prepare_loader(ecj, toolbox.cache),
        distribution=distribution,
    )


def named_classes(series: Series) -> frozenset[str]:
    """Return the top-level classes whose files a series' patches touch."""
    texts = (patch.path.read_text(encoding="utf-8", errors="replace") for patch in series.patches)
    paths = chain.from_iterable(found for text in texts for found in _TOUCHED.findall(text))
    return frozenset(found.group(1) for path in paths if (found := _JAVA.fullmatch(path)))


def prove_dropin(tools: ProofTools, base: Path, candidate: Path, subject: Subject) -> DropIn:
    """Compare the candidate with base by every rule; the JVMs that this takes run side by side.

    Raises HarnessError when base cannot be read, or the candidate is no jar whose classes can be.
    """
    entries = read_jar(base), read_jar(candidate)
    others = tools.distribution.others
    packages = packages_of(entries[0].names)
    jars = (base, candidate, *(each.jar for each in subject.baselines))
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="proof") as pool:
        facts = pool.submit(read_each, tools.bytecode, jars)
        uses = pool.submit(read_references, tools.bytecode, others, packages)
        keys = pool.submit(_compare_keys, tools, base, candidate, subject)
        said = pool.submit(read_statements, tools.bytecode, (base, candidate))
        old, new, *made = facts.result()
        apis = pool.submit(compare_apis, tools.java, tools.comparer, base, candidate, others, visible(old).keys())
        loads = pool.submit(newly_broken, tools.java, tools.loader, (base, old), (candidate, new), others)
        referring = dict(zip(others, uses.result(), strict=True))
        by_jar = {jar.name: found for jar, found in referring.items()}
        loader = Loader(tools.java, tools.loader, others)
        whole = pool.submit(check_implementing, loader, tools.bytecode, base, candidate, new, referring)
        baselines = (CompiledBaseline("base", old), *_baselines(subject, made))
        comparison = compared(new, baselines)
        found = [
            *_compare_files(base, candidate, entries, others),
            *compare_hidden(entries[0].names, entries[1].names, {jar.name: entry_names(jar) for jar in others}),
            *_compare_classes(old, new, comparison, subject.named),
            *compare_older_java(old, new, baselines, subject.builder),
            *compare_constants(old, new, others),
            *compare_linkage(old, new, by_jar),
            *compare_lambdas(old, new, by_jar),
            *whole.result(),
            *apis.result(),
            *loads.result(),
            *keys.result(),
            *compare_statements(*said.result()),
            *compare_errors(*said.result()),
        ]
    return DropIn(
        tuple(each.name for each in rules.ALL),
        worst_first(tuple(weighed(found, old, others))),
        _notes(subject, new, comparison),
        changed_top_level(new, baselines),
        changed_methods(comparison),
    )


def _compare_files(
    base: Path, candidate: Path, entries: tuple[JarFacts, JarFacts], others: Sequence[Path]
) -> Iterator[Difference]:
    old, new = entries
    missing = missing_resources(old, new)
    yield from compare_entries(old, new, entries_of(others, missing), _unread(missing, base, candidate, *others))
    yield from compare_manifests(old, new)
    yield from compare_signatures(old, new, packages_of(chain.from_iterable(map(entry_names, others))))


def _unread(resources: Iterable[str], *jars: Path) -> frozenset[str]:
    """Return the resources of which no class of these jars has the name; META-INF has what is found without one."""
    names = {name: names_in_code(name) for name in resources if not name.startswith("META-INF/")}
    held = held_by(jars, frozenset[str]().union(*names.values()))
    return frozenset(name for name, written in names.items() if not written & held)


def _compare_classes(base: Classes, candidate: Classes, comparison: Comparison, named: Named) -> Iterator[Difference]:
    yield from misplaced(candidate)
    yield from compare_levels(base, candidate)
    yield from compare_presence(base, candidate, named)
    yield from compare_members(base, candidate)
    yield from compare_nests(base, comparison, named)
    yield from compare_blocking(candidate, comparison.baselines)
    yield from compare_durability(base, candidate)
    yield from compare_guards(base, candidate)


def worst_first(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return differences by severity, then rule and place, each once."""
    return tuple(sorted(set(differences), key=_weight))


def _weight(difference: Difference) -> tuple[int, str, str, str]:
    return _WORST_FIRST.index(difference.severity), difference.rule, difference.where, difference.detail


def _compare_keys(tools: ProofTools, base: Path, candidate: Path, subject: Subject) -> tuple[Difference, ...]:
    old = _configuration(tools, base)
    if old.unread and not old.owners:
        owner, why = next(iter(old.unread.items()))
        raise HarnessError(f"The configuration of {owner} in {base} cannot be read: {why}.", _OTHER_KAFKA)
    try:
        new = _configuration(tools, candidate)
    except HarnessError as error:  # a jar without a readable configuration is no drop-in, which is an answer
        return (rules.CONFIG_UNREADABLE.broken(candidate.name, error.message),)
    return tuple(compare_configurations(old, new, subject.flag, subject.flag_default))


def _configuration(tools: ProofTools, jar: Path) -> EveryConfig:
    return read_used_config(tools.config, jar, tools.distribution.others)


def _baselines(subject: Subject, classes: Sequence[Classes]) -> list[CompiledBaseline]:
    return [CompiledBaseline(each.label, made) for each, made in zip(subject.baselines, classes, strict=True)]


def _notes(subject: Subject, candidate: Classes, comparison: Comparison) -> tuple[str, ...]:
    nearest, same = closest(candidate, comparison.baselines)
    nearest_baseline = f"closest baseline: {nearest.label}, with {same} of {len(candidate)} classes identical"
    read = tuple(filter(None, (nearest_baseline, _COMPILER[comparison.reading])))
    if subject.named is None:
        return *read, "neither series nor claims name the classes that may change: the changes in each are described"
    named = f"{len(subject.named)} of {len(nests(candidate))} top-level classes may change, as the series or claims say"
    return *read, named
