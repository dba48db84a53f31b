"""Drafting a claims file: what a jar changes of base, put beside the scenarios there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.audit.claims_draft import JarChanges, ScenarioChoice, draft_claims
from harness.audit.claims_file import parse_claims
from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.progress import Reporter
from harness.building.build_comparison import unpatched_jars
from harness.building.builders.base import BuildHost, compilers_at_hand
from harness.building.builders.ecj import ecj_of
from harness.building.configdef import prepare_probe, read_keys
from harness.building.given import check_raft_jar
from harness.kafka.distribution import Distribution, distribution_of
from harness.kafka.lock import read_lock
from harness.kafka.release_lines import Mode, line_of
from harness.proof.bytecode import Classes, LogStatement, prepare_bytecode, read_each, read_statements
from harness.proof.dropin import rules
from harness.proof.dropin.class_changes import (
    CompiledBaseline,
    compare_nests,
    compare_presence,
    compared,
    is_generated,
    top_level,
)
from harness.proof.dropin.class_diff import UNCERTAIN
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all
from harness.scenario.steps import named_expectations
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox


def draft_claims_file(
    jar: Path,
    base_jar: Path | None,
    version: str,
    folders: Sequence[Path],
    out: Path,
    toolbox: Toolbox,
    reporter: Reporter,
) -> JarChanges:
    """Write a claims file for a jar, and return what it was drafted from; `folders` hold scenarios of the user's own.

    Raises HarnessError for what is no raft jar of this version, a file that is there already, and a jar that changes
    nothing.
    """
    if out.exists():
        raise HarnessError(f"{out} is there already.", "Name another file by --out, or remove it.")
    for each in filter(None, (jar, base_jar)):
        check_raft_jar(each, version)
    reporter.stage(f"what {jar.name} changes")
    changes = changes_of(jar, base_jar, version, toolbox, reporter)
    if not (changes.classes or changes.keys or changes.statements):
        raise HarnessError(
            f"{jar} changes no class, key or log statement of {base_jar or f'Kafka {version}'}.",
            "There is nothing to claim: name another jar by --jar, or what it is compared with by --base-jar.",
        )
    base = base_jar.name if base_jar else f"Kafka {version}'s own"
    text = draft_claims(jar.name, base, changes, choices([*load_all(folders).values()]))
    parse_claims(text.encode(), str(out))
    write_text(out, text)
    return changes


def changes_of(jar: Path, base_jar: Path | None, version: str, toolbox: Toolbox, reporter: Reporter) -> JarChanges:
    """Return what a jar changes of another, or of the release. Raises HarnessError for a jar that cannot be read."""
    kafka, ecj = distribution_of(None, version, toolbox), ecj_of(toolbox)
    base = base_jar or kafka.raft_jar
    built = [] if base_jar else _unpatched(kafka, version, toolbox, reporter)
    tools, probe = prepare_bytecode(ecj, toolbox), prepare_probe(ecj, toolbox.node_java(), kafka.jars, toolbox.cache)
    old, new, *made = read_each(tools, (base, jar, *(path for _, path in built)))
    baselines = [
        CompiledBaseline("base", old),
        *(CompiledBaseline(n, c) for (n, _), c in zip(built, made, strict=True)),
    ]
    keys = [{each.name: each for each in read_keys(probe, path, kafka.others)} for path in (base, jar)]
    statements = read_statements(tools, (base, jar))
    return JarChanges(
        classes=changed_classes(old, new, baselines),
        keys=tuple(key for name, key in sorted(keys[1].items()) if name not in keys[0]),
        statements=new_statements(*statements),
    )


def changed_classes(base: Classes, candidate: Classes, baselines: Sequence[CompiledBaseline]) -> dict[str, str]:
    """Return the top-level classes, with dots, that a jar changes or adds, each with what changed in words.

    Left out are message classes, and what may be the compiler's doing alone.
    """
    added = {
        d.where: "new" for d in compare_presence(base, candidate, None) if d.rule == rules.UNNAMED_CLASS_ADDED.name
    }
    changed = {
        each.where: each.detail.removeprefix(f"{each.where}: ")
        for each in compare_nests(base, compared(candidate, baselines), None)
    }
    certain = {name: words for name, words in {**added, **changed}.items() if words != UNCERTAIN}
    both = {name: words for name, words in certain.items() if top_level(name) == name}
    return {name: words for name, words in both.items() if not is_generated(name.replace(".", "/"))}


def new_statements(base: frozenset[LogStatement], candidate: frozenset[LogStatement]) -> tuple[LogStatement, ...]:
    """Return the candidate's statements that base has not with this text at this level, in whichever class."""
    known = {(each.level, each.text) for each in base}
    return tuple(sorted(each for each in candidate if (each.level, each.text) not in known))


def choices(scenarios: Sequence[Scenario]) -> list[ScenarioChoice]:
    """Return the scenarios that expect something of an arm, with the names of what they expect.

    The first is the draft's: of the suites that any jar is asked about, and where stock is known to fail.
    """
    likely = sorted(scenarios, key=_unlikely)
    found = [ScenarioChoice(each.name, each.question, _expectations(each)) for each in likely]
    return [each for each in found if each.expectations]


def _unlikely(scenario: Scenario) -> tuple[bool, bool, bool]:
    asked_of_any = not {"bootstrap", "standard"}.isdisjoint(scenario.suites)
    return scenario.topology.mode is not Mode.KRAFT, not asked_of_any, not scenario.expected


def _expectations(scenario: Scenario) -> tuple[str, ...]:
    return tuple(dict.fromkeys(named_expectations(scenario.plan().everything)))


def _unpatched(kafka: Distribution, version: str, toolbox: Toolbox, reporter: Reporter) -> list[tuple[str, Path]]:
    """Return the released sources compiled by what is at hand: the jar's own compiler may be among them."""
    line, sources = line_of(version), toolbox.downloads.fetch(read_lock(version).one(Purpose.SOURCES))
    compilers = compilers_at_hand(BuildHost(toolbox, line.class_files, reporter.report))
    return unpatched_jars(compilers, kafka, sources, line.class_files, toolbox.cache)
