"""What changes for an operator between two Kafkas, as a stage: inventories, their comparison, the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.progress import Reporter
from harness.base.recordfile import RecordFile
from harness.base.text import cut, visible
from harness.kafka.completeness import check_whole
from harness.kafka.distribution import Distribution, distribution_of
from harness.kafka.release_lines import line_of
from harness.model.arms import Build
from harness.model.declaration import Declaration
from harness.model.kafka_inventory import KafkaInventory
from harness.model.operator_changes import BOOTS, Change, OperatorChanges
from harness.model.request import Request
from harness.report.upgrade_cases import render_changes
from harness.report.upgrade_markdown import render_upgrade_summary
from harness.report.upgrade_page import first_of, render_upgrade, summary
from harness.rundir.directory import RunDirectory
from harness.rundir.kept_results import KEPT_FOR
from harness.rundir.parts import UpgradeFolder
from harness.stages.arm_kafka import kafka_of
from harness.stages.timing import timed
from harness.toolbox.toolbox import Toolbox
from harness.upgrade.boots import with_boots
from harness.upgrade.changes import operator_changes
from harness.upgrade.inventory import Bench, bench_for, read_classes
from harness.upgrade.jar_facts import java_needed
from harness.upgrade.kept_boots import as_booted, kept_boots
from harness.upgrade.known_of_both import libraries_not_compared, lines_not_compared, same_libraries
from harness.upgrade.modules import modules_of, scripts_folders, scripts_not_compared
from harness.upgrade.own_files import with_uses

_LARGEST_FILE = 4_000_000  # bytes of a file of the operator's own
_WORDS = 120  # characters of a part of a line in the terminal
_LISTED = 20
_NOT_ASKED = "No node was asked for metrics, protocol, features, start, memory and CPU"


def kafka_named(name: str, toolbox: Toolbox) -> Distribution:
    """Return the Kafka of a version that is locked, of a folder, or of an archive (.tgz).

    Raises HarnessError, also for one that is not whole.
    """
    place = Path(name) if Path(name).exists() or "/" in name else None
    kafka = distribution_of(place, name, toolbox)
    line_of(kafka.version)
    if place:
        check_whole(kafka, place)
    return kafka


def own_files(paths: Iterable[Path], option: str = "--mine") -> dict[str, str]:
    """Return the texts of an operator's own files, which an option named.

    Raises HarnessError for one that cannot be read, or is no text.
    """
    return {str(path): _text(path, option) for path in paths}


def _text(path: Path, option: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise HarnessError(f"{option} {path} cannot be read: {error.strerror}.", "Name a file of your own.") from error
    if len(content) > _LARGEST_FILE or b"\0" in content:
        raise HarnessError(f"{option} {path} is no text file of at most {_LARGEST_FILE // 1_000_000} MB.")
    return content.decode("utf-8", "replace")


def upgrade_notes(
    base: Distribution,
    candidate: Distribution,
    folder: UpgradeFolder,
    boots: int,
    mine: Mapping[str, str],
    toolbox: Toolbox,
    reporter: Reporter,
    *,
    fresh: bool = True,
) -> OperatorChanges:
    """Take the inventories of two Kafkas and write what changes between them, as records and as a page.

    `boots` are how often each is started (0: metrics, protocol and costs are not compared), `mine` the texts of the
    operator's own files by name. What boots of the same jars showed before is taken over unless it is to be `fresh`.
    Raises HarnessError when a Kafka cannot be asked.
    """
    check_java((base, candidate), toolbox)
    bench = bench_for(base, toolbox, reporter.report)
    reporter.stage(f"{base.version} and {candidate.version}: what changes for an operator")
    kafkas = (base, candidate)
    inventories = _read(kafkas, bench)
    if boots:
        inventories = booted(kafkas, inventories, boots, bench, fresh=fresh)
    else:
        inventories = with_gaps(inventories, [f"{_NOT_ASKED}: no boots were wanted."])
    for file, inventory in zip((folder.base, folder.candidate), inventories, strict=True):
        file.write(inventory)
    changes = operator_changes(*inventories)
    found = with_uses(changes, mine) if mine else changes
    write_text(folder.page, render_upgrade(found))
    write_text(folder.junit, render_changes(found))
    write_text(folder.summary, render_upgrade_summary(found))
    folder.changes.write(found)  # last: it says that all is there
    return found


def note_upgrade(directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> None:
    """Note what changes for an operator where the arms run different Kafkas, unless it is there; nothing rests on it.

    The user's own server properties are searched for it.
    """
    declaration, request = directory.declaration.read(), directory.request.read()
    if not declaration.kafkas or directory.upgrade.changes.exists:
        return
    try:
        base, candidate = (_as_built(directory, build, request, toolbox) for build in _builds(declaration))
        mine = own_files([request.config] if request.config else [], "--config")
        with timed(directory, "upgrade notes"):
            upgrade_notes(base, candidate, directory.upgrade, BOOTS, mine, toolbox, reporter, fresh=request.fresh)
    except (HarnessError, OSError) as error:
        reporter.report(f"what changes for an operator is not known: {error}")


def _as_built(directory: RunDirectory, build: Build, request: Request, toolbox: Toolbox) -> Distribution:
    """Return the Kafka that a build runs in, with the raft jar that was built or given for it."""
    kafka = kafka_of(build, request, toolbox)
    is_its_own = build.kafka.jars.get(build.kafka.raft_jar, build.jar_sha256) == build.jar_sha256
    return kafka if is_its_own else kafka.with_raft_jar(directory.path / build.jar, build.name)


def _builds(declaration: Declaration) -> tuple[Build, Build]:
    """Return base's build and the candidate's."""
    first = {arm.role.is_control: arm.build for arm in reversed(declaration.arms)}
    return first[True], first[False]


def booted(
    kafkas: Sequence[Distribution],
    inventories: tuple[KafkaInventory, ...],
    boots: int,
    bench: Bench,
    *,
    fresh: bool,
) -> tuple[KafkaInventory, ...]:
    """Return inventories with what boots of each Kafka showed, now or before.

    Where a node of one cannot be asked, they have a gap instead.
    """
    kept = kept_boots(inventories, boots, bench)
    if not fresh and (known := _recent(kept)):
        bench.report(f"what nodes of both showed on {known[0].booted_on} is taken over")
        return tuple(map(as_booted, inventories, known))
    bench.report(f"starting a node of each, {boots} times in turn")
    try:
        found = with_boots(tuple(zip(kafkas, inventories, strict=True)), boots, bench)
    except HarnessError as error:
        gap = f"{_NOT_ASKED}: {error.message}"
        bench.report(gap)
        return with_gaps(inventories, [gap])
    kept.write(found)
    return found


def _recent(kept: RecordFile[tuple[KafkaInventory, ...]]) -> tuple[KafkaInventory, ...]:
    """Return what was kept of boots, if the host may still be what it was."""
    found = kept.read() if kept.is_whole else ()
    age = datetime.now(UTC).date() - date.fromisoformat(found[0].booted_on) if found else KEPT_FOR
    return found if age < KEPT_FOR else ()


def _read(kafkas: tuple[Distribution, ...], bench: Bench) -> tuple[KafkaInventory, ...]:
    """Return the inventories of Kafkas, of those modules and scripts that all of them can be asked."""
    modules = [modules_of(each, bench.toolbox) for each in kafkas]
    missing = dict.fromkeys(module for each in modules for module in each.missing)
    gaps = [f"The module {module} is not compared: it is not to be had of both Kafkas." for module in missing]
    gaps += [*scripts_not_compared(kafkas), *libraries_not_compared(kafkas), *lines_not_compared(kafkas)]
    each_asked = zip(kafkas, modules, scripts_folders(kafkas), strict=True)
    return with_gaps(
        same_libraries(
            kafkas, [read_classes(kafka, each.without(missing), scripts, bench) for kafka, each, scripts in each_asked]
        ),
        gaps,
    )


def with_gaps(inventories: Iterable[KafkaInventory], gaps: Sequence[str]) -> tuple[KafkaInventory, ...]:
    """Return inventories of which more could not be compared."""
    return tuple(replace(each, gaps=(*gaps, *each.gaps)) for each in inventories)


def check_java(kafkas: tuple[Distribution, ...], toolbox: Toolbox) -> None:
    """Raise HarnessError where the Java of nodes is too old for one of the Kafkas."""
    java = toolbox.node_java()
    for kafka in kafkas:
        needed = max(java_needed(kafka.jars).values(), default=0)
        if java.release and needed > java.release:  # a Java that names no number is believed
            raise HarnessError(
                f"{kafka.description} needs Java {needed}, and {java.home} is Java {java.version}.",
                "Name a newer one by --java-home, or leave it out to use the bundled runtime.",
            )


def print_changes(console: Console, changes: OperatorChanges, page: Path) -> None:
    """Print what breaks first, how much changes, and where all of it stands."""
    used = [change for change in changes.changes if change.used]
    _print_list(console, "in your files", used)
    _print_list(console, "breaks first", first_of(changes))
    for gap in changes.gaps:
        console.print(Text(f"  not compared: {visible(gap)}", style="dim"))
    console.print(Text.assemble("\n", (visible(summary(changes)), "bold")))
    console.print(Text(f"{page}"))


def _print_list(console: Console, title: str, changes: Sequence[Change]) -> None:
    if changes:
        console.print(Text(f"\n{title}", style="bold"))
    for change in changes[:_LISTED]:
        console.print(
            Text.assemble("  ", (_shown(change.subject), "bold"), f" ({_shown(change.where)}): ", _notice(change))
        )
    if len(changes) > _LISTED:
        console.print(Text(f"  … and {len(changes) - _LISTED} more", style="dim"))


def _notice(change: Change) -> str:
    turn = f"{_shown(change.base) or 'not there'} → {_shown(change.candidate)}. " if change.candidate else ""
    places = "; ".join(f"{use.file}:{use.line}" for use in change.used)
    return visible(f"{turn}{change.means}{f' [{places}]' if places else ''}")


def _shown(text: str) -> str:
    return cut(visible(text), _WORDS)
