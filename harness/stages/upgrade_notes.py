"""What changes for an operator between two Kafkas, as a stage: inventories, their comparison, the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.progress import Reporter
from harness.base.text import cut, visible
from harness.kafka.completeness import check_whole
from harness.kafka.distribution import Distribution, distribution_of
from harness.kafka.release_lines import line_of
from harness.model.kafka_inventory import KafkaInventory
from harness.model.operator_changes import BOOTS, Change, OperatorChanges
from harness.report.upgrade_cases import render_changes
from harness.report.upgrade_markdown import render_upgrade_summary
from harness.report.upgrade_page import first_of, render_upgrade, summary
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import UpgradeFolder
from harness.stages.timing import timed
from harness.toolbox.toolbox import Toolbox
from harness.upgrade.boots import with_boots
from harness.upgrade.changes import operator_changes
from harness.upgrade.inventory import Bench, bench_for, read_classes
from harness.upgrade.jar_facts import java_needed
from harness.upgrade.modules import modules_of, scripts_folders, scripts_not_compared
from harness.upgrade.own_files import with_uses

_LARGEST_FILE = 4_000_000  # bytes of a file of the operator's own
_WORDS = 120  # characters of a part of a line in the terminal
_LISTED = 20


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


def own_files(paths: list[Path]) -> dict[str, str]:
    """Return the texts of an operator's own files. Raises HarnessError for one that cannot be read, or is no text."""
    return {str(path): _text(path) for path in paths}


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise HarnessError(f"--mine {path} cannot be read: {error.strerror}.", "Name a file of your own.") from error
    if len(content) > _LARGEST_FILE or b"\0" in content:
        raise HarnessError(f"--mine {path} is no text file of at most {_LARGEST_FILE // 1_000_000} MB.")
    return content.decode("utf-8", "replace")


def upgrade_notes(
    base: Distribution,
    candidate: Distribution,
    folder: UpgradeFolder,
    boots: int,
    mine: Mapping[str, str],
    toolbox: Toolbox,
    reporter: Reporter,
) -> OperatorChanges:
    """Take the inventories of two Kafkas and write what changes between them, as records and as a page.

    `boots` are how often each is started (0: metrics, protocol and costs are not compared), `mine` the texts of the
    operator's own files by name. Raises HarnessError when a Kafka cannot be asked.
    """
    check_java((base, candidate), toolbox)
    bench = bench_for(base, toolbox, reporter.report)
    reporter.stage(f"{base.version} and {candidate.version}: what changes for an operator")
    changes = _compared(base, candidate, folder, boots, bench, reporter)
    found = with_uses(changes, mine) if mine else changes
    folder.changes.write(found)
    write_text(folder.page, render_upgrade(found))
    write_text(folder.junit, render_changes(found))
    write_text(folder.summary, render_upgrade_summary(found))
    return found


def note_upgrade(
    directory: RunDirectory, base: Distribution, candidate: Distribution, toolbox: Toolbox, reporter: Reporter
) -> None:
    """Write what changes for an operator into a run directory whose arms are different Kafkas, unless it is there.

    Raises HarnessError as `upgrade_notes`.
    """
    if not directory.upgrade.changes.exists:
        with timed(directory, "upgrade notes"):
            upgrade_notes(base, candidate, directory.upgrade, BOOTS, {}, toolbox, reporter)


def _compared(
    base: Distribution, candidate: Distribution, folder: UpgradeFolder, boots: int, bench: Bench, reporter: Reporter
) -> OperatorChanges:
    kafkas = (base, candidate)
    inventories = _read(kafkas, bench)
    if boots:
        reporter.stage(f"starting a node of each, {boots} times in turn")
        inventories = started(kafkas, inventories, boots, bench)
    for file, inventory in zip((folder.base, folder.candidate), inventories, strict=True):
        file.write(inventory)
    return operator_changes(*inventories)


def started(
    kafkas: Sequence[Distribution], inventories: Sequence[KafkaInventory], boots: int, bench: Bench
) -> tuple[KafkaInventory, ...]:
    """Return inventories with what boots showed; without, and a gap in each, where a node of one cannot be asked."""
    try:
        return with_boots(tuple(zip(kafkas, inventories, strict=True)), boots, bench)
    except HarnessError as error:
        gap = f"No node was asked for metrics, protocol, features, start, memory and CPU: {error.message}"
        bench.report(gap)
        return with_gaps(inventories, [gap])


def _read(kafkas: tuple[Distribution, ...], bench: Bench) -> tuple[KafkaInventory, ...]:
    """Return the inventories of Kafkas, of those modules and scripts that all of them can be asked."""
    modules = [modules_of(each, bench.toolbox) for each in kafkas]
    missing = dict.fromkeys(module for each in modules for module in each.missing)
    gaps = [f"The module {module} is not compared: it is not to be had of both Kafkas." for module in missing]
    gaps += scripts_not_compared(kafkas)
    each_asked = zip(kafkas, modules, scripts_folders(kafkas), strict=True)
    return with_gaps(
        [read_classes(kafka, each.without(missing), scripts, bench) for kafka, each, scripts in each_asked], gaps
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
