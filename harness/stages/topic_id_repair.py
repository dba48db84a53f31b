"""`harness topic-ids repair` and `restore`: looked at once more, shown, and only then done."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.text import counted, listed
from harness.model.topic_repair import Backup, Choice, RepairPlan, SavedNode
from harness.stages.topic_ids import Sources, disks_of
from harness.topicids.backups import BackupFolder
from harness.topicids.broker_config import read_broker_config
from harness.topicids.broker_files import (
    Restored,
    check_owner,
    check_places,
    check_stopped,
    delete_files,
    files_of,
    is_folder,
    refuse_links,
    restore_files,
    stopped,
)
from harness.topicids.disks import Identity, data_directory_around, once, read_data_directory, read_identity
from harness.topicids.export import read_export
from harness.topicids.live_state import LiveState, read_live_state
from harness.topicids.node_changes import still_refused
from harness.topicids.put_back import check_cluster, check_others, nodes_to_change, put_back, take_back
from harness.topicids.records import ClusterTopics, DataDirectory
from harness.topicids.sentences import ages
from harness.topicids.sentences import brokers as named_brokers
from harness.topicids.turns import objections, put_back_objections, unseen_disks
from harness.topicids.zookeeper import ZooKeeper, connected, read_topics
from harness.topicids.zookeeper_security import ZooKeeperSecurity, read_security
from harness.topicids.zookeeper_writes import connected_to_write

_UNCHANGED = "Nothing was changed."
_DRY = f"{_UNCHANGED} Do it with --apply."
_SHOWN = 20


def repair_zookeeper(
    made: RepairPlan, disks: Sources, folder: BackupFolder, security: Path | None, *, apply: bool
) -> Iterator[str]:
    """Put old ids back, and change the controller; yield what is done. Raises HarnessError.

    `disks` are compared with these ids before and afterwards: those of every broker, unless it has begun already.
    """
    if made.refusals:
        raise HarnessError(f"The plan itself is a refusal: {made.refusals[0]}", "Make it again when that is gone.")
    if not made.chosen(Choice.PUT_BACK):
        raise HarnessError(
            "By this plan nothing is put back in ZooKeeper.", "Name a broker's server.properties by --config."
        )
    _refuse_within(folder.path, _data_of(disks))
    part = made.part(Choice.PUT_BACK)
    begun = folder.begun(part)
    if not apply:
        yield from _rehearsed_in_zookeeper(made, begun, disks, security)
        return
    with ExitStack() as held:
        with _unchanged(begun is None):
            zookeeper = held.enter_context(connected_to_write(made.zookeeper, _security(security)))
            nodes, data = _nodes(zookeeper, made, begun), _named_disks(disks)
            if begun is None:
                check_others(zookeeper, nodes)
                _check_all_seen(made, data)
            if why := _refused_now(zookeeper, made, nodes, data, begun):
                raise HarnessError(f"It was not done. {' '.join(why)}", "Make the plan again: harness topic-ids plan")
            backup = begun or folder.keep(part, nodes)
            folder.keep_plan(made)
        yield from ages(data, time.time())
        yield from _named_nodes(nodes)
        epoch = put_back(zookeeper, folder, backup)
        yield (
            f"{counted(len(nodes), 'topic')} put back; a new controller (epoch {epoch}) was elected and kept these ids."
        )
        yield _compared(zookeeper, nodes, disks)


def _nodes(zookeeper: ZooKeeper, made: RepairPlan, begun: Backup | None) -> Sequence[SavedNode]:
    check_cluster(zookeeper, made.cluster_id)
    return begun.nodes if begun else nodes_to_change(zookeeper, made)


def _named_nodes(nodes: Sequence[SavedNode]) -> Iterator[str]:
    yield from _first([f"put back: {each.path} {each.before} → {each.after}" for each in nodes])


def _rehearsed_in_zookeeper(
    made: RepairPlan, begun: Backup | None, disks: Sources, security: Path | None
) -> Iterator[str]:
    """Yield what would be done, and what would forbid it now, over a connection that cannot write."""
    with connected(made.zookeeper, _security(security), current=True) as zookeeper:
        nodes, data = _nodes(zookeeper, made, begun), _named_disks(disks)
        yield from ages(data, time.time())
        yield from _named_nodes(nodes)
        yield from (f"not now: {each}" for each in _why_not(zookeeper, made, nodes, data, begun))
        yield f"then change the controller. {_DRY}"


@contextmanager
def _unchanged(so: bool = True) -> Iterator[None]:
    """Have an error say that nothing was changed, if that is so: it is until there is a backup."""
    try:
        yield
    except HarnessError as error:
        if not so or _UNCHANGED in error.message:
            raise
        raise HarnessError(f"{error.message} {_UNCHANGED}", error.hint) from error


def _check_all_seen(made: RepairPlan, data: Sequence[DataDirectory]) -> None:
    if unseen := unseen_disks(made, data):
        raise HarnessError(
            unseen, "Name each broker's server.properties by --config, or by --merge what its host exported now."
        )


def _why_not(
    zookeeper: ZooKeeper,
    made: RepairPlan,
    nodes: Sequence[SavedNode],
    data: Sequence[DataDirectory],
    begun: Backup | None,
) -> Iterator[str]:
    try:
        check_others(zookeeper, nodes)
        if begun is None:
            _check_all_seen(made, data)
    except HarnessError as error:
        yield error.message
    yield from _refused_now(zookeeper, made, nodes, data, begun)


def _refused_now(
    zookeeper: ZooKeeper,
    made: RepairPlan,
    nodes: Sequence[SavedNode],
    data: Sequence[DataDirectory],
    begun: Backup | None,
) -> list[str]:
    """Return what forbids it now, and what brokers would refuse beside the ids that are put back.

    Once it has begun only the latter counts: whatever controller comes next reads these ids.
    """
    cluster = read_topics(zookeeper)
    why = list(still_refused(cluster, nodes, data))
    if begun is None:
        why += put_back_objections(made, cluster, data, _live_state(zookeeper, made, cluster))
    return why


def _live_state(zookeeper: ZooKeeper, made: RepairPlan, cluster: ClusterTopics) -> LiveState:
    return read_live_state(
        zookeeper, [cluster.topics[each.topic] for each in made.topics if each.topic in cluster.topics]
    )


def _compared(zookeeper: ZooKeeper, nodes: Sequence[SavedNode], disks: Sources) -> str:
    """Return what disks have beside the ids that were put back. Raises HarnessError where one differs."""
    data = _named_disks(disks)
    if why := list(still_refused(read_topics(zookeeper), nodes, data)):
        raise HarnessError(
            f"The ids are back in ZooKeeper, and not every disk has them. {' '.join(why)}",
            "Restart no broker, and make the plan again: harness topic-ids plan",
        )
    if not data:
        return "No disk was looked at: check once more, with every broker's export."
    return f"No directory of {named_brokers(sorted({disk.broker for disk in data}))} differs from them."


def _named_disks(disks: Sources) -> tuple[DataDirectory, ...]:
    return disks_of(disks) if disks.configs or disks.merge else ()


def _data_of(disks: Sources) -> tuple[Path, ...]:
    return tuple(path for config in disks.configs for path in read_broker_config(config).data)


def repair_broker(
    made: RepairPlan, config: Path, exports: Sequence[Path], folder: BackupFolder, security: Path | None, *, apply: bool
) -> Iterator[str]:
    """Delete the files with an old id of the broker of this host; yield what is done. Raises HarnessError.

    Without `apply` what would forbid it now is yielded as a note.
    """
    with _unchanged():
        data = once(read_broker_config(config).data)
        _refuse_within(folder.path, data)
        others = [disk for file in exports for disk in read_export(file)]
    if not apply:
        yield from _rehearsed(made, config, others, security)
        return
    with ExitStack() as held:
        with _unchanged():
            held.enter_context(stopped(data))
            own = _own_disks(config)
            if why := _objections(made, own, others, security):
                raise HarnessError(" ".join(why), "See the plan: harness topic-ids plan")
            files = _files(made, own)
            backup = folder.copy_all(made.part(Choice.DELETE, own[0].broker), files)
            folder.keep_plan(made)
        yield from ages(others, time.time())
        yield from _named(files)
        count = delete_files(folder, backup, {path for _, path in files})
    yield f"{counted(count, 'file')} of broker {own[0].broker} deleted; {folder.path} has them. Start the broker."


def _rehearsed(made: RepairPlan, config: Path, others: Sequence[DataDirectory], security: Path | None) -> Iterator[str]:
    """Yield what would be done, and what would forbid it now; nothing is written."""
    own = _own_disks(config)
    yield from ages(others, time.time())
    yield from (f"not now: {each}" for each in _objections(made, own, others, security))
    try:
        check_stopped(Path(disk.path) for disk in own)
    except HarnessError as error:
        yield f"not now: {error.message}"
    files = _files(made, own)
    yield from _named(files)
    yield f"{counted(len(files), 'file')} of broker {own[0].broker}. {_DRY}"


def _objections(
    made: RepairPlan, own: Sequence[DataDirectory], others: Sequence[DataDirectory], security: Path | None
) -> list[str]:
    with connected(made.zookeeper, _security(security), current=True) as zookeeper:
        cluster = read_topics(zookeeper)
        live = _live_state(zookeeper, made, cluster)
    return list(objections(made, own[0].broker, cluster, (*own, *others), live))


def _files(made: RepairPlan, own: Sequence[DataDirectory]) -> list[tuple[Path, Path]]:
    files = files_of(made, own[0].broker, own)
    refuse_links(path for _, path in files)
    return files


def _named(files: Sequence[tuple[Path, Path]]) -> Iterator[str]:
    yield from _first([f"delete: {path}" for _, path in files])


def _first(lines: Sequence[str]) -> Iterator[str]:
    """Yield so many lines, and how many more there are."""
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"… and {len(lines) - _SHOWN} more"


def _refuse_within(backup: Path, data: Sequence[Path]) -> None:
    """Raise HarnessError where a backup would lie in a data directory, whosever: Kafka reads every folder there."""
    within = next((path for path in data if backup.resolve().is_relative_to(path.resolve())), None)
    within = within or data_directory_around(backup)
    if within is not None:
        raise HarnessError(
            f"{backup} is in the data directory {within}. Nothing was changed.", "Name a folder elsewhere by --backup."
        )


def restore(folder: BackupFolder, security: Path | None, *, apply: bool) -> Iterator[str]:
    """Bring back what a repair changed; yield what is done. Raises HarnessError, also where not all was brought back.

    A file whose partition is gone is left out, and named at the end.
    """
    with _unchanged():
        backup = folder.checked()
        check_places(backup)
    paths = [*(each.path for each in backup.files), *(each.path for each in backup.nodes)]
    yield from _first([f"restore: {path}" for path in paths])
    if not apply:
        yield _DRY
        return
    done = Restored(0)
    if backup.files:
        done = _restore_files(folder, backup)
        yield f"{counted(done.count, 'file')} restored."
    if backup.nodes:
        epoch = _take_back(folder, backup, security)
        then = f"the controller of epoch {epoch} knows it" if epoch else "the controller was left, lest it make new ids"
        yield f"{counted(len(backup.nodes), 'topic')} in ZooKeeper as before; {then}."
    _check_all_restored(done)


def _check_all_restored(done: Restored) -> None:
    if done.others:
        raise HarnessError(
            f"{counted(len(done.others), 'file')} not restored, what stands there has an id that is not the repair's: "
            f"{listed(done.others, _SHOWN)}.",
            "If the topic was created again since, leave it; harness topic-ids check compares it.",
        )
    if done.gone:
        raise HarnessError(
            f"{counted(len(done.gone), 'file')} not restored, the partition's folder is gone: "
            f"{listed(done.gone, _SHOWN)}.",
            "If a partition was moved to another data directory, restore its file by hand.",
        )


def _restore_files(folder: BackupFolder, backup: Backup) -> Restored:
    with ExitStack() as held:
        with _unchanged():
            data = [path for path in map(Path, backup.data) if is_folder(path)]
            held.enter_context(stopped(data))
            for path in data:
                check_owner(path, read_identity(path), Identity(backup.part.broker, backup.part.cluster_id))
            refuse_links(Path(each.path) for each in backup.files)
            plan = folder.plan.read_if_exists()
            new_ids = {each.topic: each.in_zookeeper for each in plan.topics} if plan else {}
        return restore_files(folder, backup, new_ids)


def _take_back(folder: BackupFolder, backup: Backup, security: Path | None) -> int:
    with ExitStack() as held:
        with _unchanged():
            zookeeper = held.enter_context(connected_to_write(backup.part.zookeeper, _security(security)))
            check_cluster(zookeeper, backup.part.cluster_id)
        return take_back(zookeeper, folder, backup)


def _own_disks(config: Path) -> tuple[DataDirectory, ...]:
    found = read_broker_config(config)
    return tuple(replace(read_data_directory(path), settings=found.settings) for path in once(found.data))


def _security(path: Path | None) -> ZooKeeperSecurity:
    return read_security(path) if path else ZooKeeperSecurity()
