"""`harness topic-ids check`: read the disks, ask the cluster, compare, and show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.text import cut, visible
from harness.model.topic_ids import Answer, TopicIdCheck
from harness.report.topic_ids_page import render_topic_ids
from harness.rundir.parts import TopicIdsFolder
from harness.topicids.broker_config import read_broker_config, same_ensemble
from harness.topicids.comparing import compare
from harness.topicids.disks import once, read_collected, read_data_directory
from harness.topicids.export import is_export, read_export
from harness.topicids.kraft import topics_of_logs
from harness.topicids.records import ClusterTopics, DataDirectory
from harness.topicids.sentences import counted_directories, places, sentence, state_words
from harness.topicids.zookeeper import connected, read_topics
from harness.topicids.zookeeper_security import ZooKeeperSecurity, read_security

_LISTED = 40
_WORDS = 300
_ID_CHARACTERS = 22
_WHERE = (
    "Name the ensemble by --zookeeper HOST:PORT/chroot, a broker's server.properties by --config, "
    "or a KRaft log by --metadata-log."
)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the disks and the cluster's ids are to be had from, as it was typed."""

    data: tuple[Path, ...] = ()
    configs: tuple[Path, ...] = ()
    collected: tuple[Path, ...] = ()
    merge: tuple[Path, ...] = ()
    zookeeper: str = ""
    security: Path | None = None
    metadata_log: Path | None = None


def disks_of(sources: Sources) -> tuple[DataDirectory, ...]:
    """Return every data directory that is named, once. Raises HarnessError where one cannot be read, or none is."""
    settings = {path: config.settings for config in map(read_broker_config, sources.configs) for path in config.data}
    found = [
        *(_of_broker(path, settings.get(path, {})) for path in once((*settings, *sources.data))),
        *(disk for folder in sources.collected for disk in read_collected(folder)),
        *(disk for file in sources.merge for disk in read_export(file)),
    ]
    if not found:
        raise HarnessError(
            "No data directory is named, or none was found.",
            "Name one by --data, a broker's server.properties by --config, or an export by --merge.",
        )
    return tuple(found)


def sources_of_cluster(files: Iterable[Path], security: Path | None = None) -> Sources:
    """Return what files name: each a broker's server.properties, or what `--export` wrote. Raises HarnessError.

    `security` says how their ZooKeeper is to be talked to.
    """
    named = list(files)
    exports = [file for file in named if is_export(file)]
    configs = tuple(each for each in named if each not in exports)
    return Sources(configs=configs, merge=tuple(exports), security=security)


def check_cluster(files: Iterable[Path], security: Path | None, console: Console) -> TopicIdCheck:
    """Check the brokers that files are of, and print the answer. Raises HarnessError where nothing can be compared."""
    sources = sources_of_cluster(files, security)
    if not sources.configs:
        raise HarnessError(
            "Exports alone do not say where the cluster's own ids are.",
            "Name a broker's server.properties by --cluster too.",
        )
    found = check(sources, disks_of(sources))
    print_check(console, found)
    return found


def check(sources: Sources, data: tuple[DataDirectory, ...]) -> TopicIdCheck:
    """Compare disks with what the cluster says. Raises HarnessError where that cannot be read."""
    return compare(cluster_of(sources), data)


def cluster_of(sources: Sources) -> ClusterTopics:
    """Return the topics of the cluster that is named, if need be by a server.properties."""
    configs = [read_broker_config(path) for path in sources.configs]
    zookeeper = zookeeper_of(sources)
    logs = [sources.metadata_log] if sources.metadata_log else [each.metadata_log for each in configs]
    if sources.zookeeper and sources.metadata_log:
        raise HarnessError("Give one of --zookeeper and --metadata-log, not both.", _WHERE)
    if sources.metadata_log is None and zookeeper:
        with connected(zookeeper, security_of(sources)) as connection:
            return read_topics(connection)
    if not any(logs):
        raise HarnessError("Nothing says where the cluster's own ids are.", _WHERE)
    return topics_of_logs(filter(None, logs))


def zookeeper_of(sources: Sources) -> str:
    """Return the ensemble that is named, if need be by server.properties; empty where none is.

    Raises HarnessError where brokers name different ones.
    """
    if sources.zookeeper:
        return sources.zookeeper
    connects = [config.zookeeper for config in map(read_broker_config, sources.configs) if config.zookeeper]
    other = next((each for each in connects if not same_ensemble(each, connects[0])), "")
    if other:
        raise HarnessError(
            f"The brokers that are named have different ensembles: {connects[0]} and {other}.",
            "Name brokers of one cluster; where both are one ensemble, name it by --zookeeper HOST:PORT/chroot.",
        )
    return connects[0] if connects else ""


def security_of(sources: Sources) -> ZooKeeperSecurity:
    """Return how ZooKeeper is to be talked to."""
    return read_security(sources.security) if sources.security else ZooKeeperSecurity()


def write_check(found: TopicIdCheck, folder: TopicIdsFolder) -> None:
    """Write the record, and the page of it."""
    short = found.shortened()
    folder.check.write(short)
    write_text(folder.page, render_topic_ids(short))


def print_check(console: Console, found: TopicIdCheck) -> None:
    """Print what is to be known: of a healthy cluster one line."""
    if found.findings:
        console.print(_table(found))
    if len(found.findings) > _LISTED:
        console.print(Text(f"… and {len(found.findings) - _LISTED} more findings", style="dim"))
    print_gaps(console, found.gaps)
    console.print(Text(visible(sentence(found)), style="" if found.answer is Answer.HEALTHY else "bold"))


def print_gaps(console: Console, gaps: Sequence[str]) -> None:
    """Print what could not be looked at."""
    for gap in gaps[:_LISTED]:
        console.print(Text(f"not looked at: {visible(gap)}"))
    if len(gaps) > _LISTED:
        console.print(Text(f"… and {len(gaps) - _LISTED} more", style="dim"))


def _table(found: TopicIdCheck) -> Table:
    """Return findings as a table in which names and ids stay whole, however narrow the terminal."""
    folded = (Column(title, overflow="fold") for title in ("state", "topic,\nits directories"))
    whole = Column("cluster's id,\nid on disk", width=_ID_CHARACTERS, no_wrap=True)
    table = Table(*folded, whole, box=None, header_style="bold")
    for each in found.findings[:_LISTED]:
        where = cut(f"{counted_directories(each.directories)} of {places(each)}", _WORDS)
        lines = map(visible, filter(None, (each.topic, where, each.reason)))
        ids = f"{each.expected or 'none'}\n{each.found or 'none'}"
        table.add_row(state_words(each.state, found), Text("\n".join(lines)), ids)
    return table


def _of_broker(path: Path, settings: Mapping[str, str]) -> DataDirectory:
    return replace(read_data_directory(path), settings=settings)
