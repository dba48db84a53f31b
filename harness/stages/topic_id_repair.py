"""`harness topic-ids plan`, `repair` and `restore`: what fits is chosen, shown, and only then done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.recordfile import RecordFile
from harness.base.text import counted, visible
from harness.model import topic_repair
from harness.model.topic_repair import Backup, Choice, RepairPlan
from harness.stages.topic_ids import Sources, disks_of, security_of, zookeeper_of
from harness.topicids.backups import BackupFolder
from harness.topicids.broker_config import read_broker_config
from harness.topicids.broker_files import delete_files, files_of, refuse_links, restore_files, stopped
from harness.topicids.comparing import compare
from harness.topicids.disks import read_data_directory
from harness.topicids.export import read_export
from harness.topicids.live_state import read_live_state
from harness.topicids.planning import harmed, plan_repair
from harness.topicids.put_back import nodes_to_change, put_back, take_back
from harness.topicids.records import DataDirectory
from harness.topicids.steps import outcome, steps
from harness.topicids.turns import objections
from harness.topicids.zookeeper import ZooKeeper, ZooKeeperSecurity, connected, read_security, read_topics

_DRY = "Nothing was changed. Do it with --apply."
_SHOWN = 20


def plan_file(path: Path) -> RecordFile[RepairPlan]:
    """Return a plan as a file."""
    return RecordFile(
        path,
        RepairPlan,
        topic_repair.SCHEMA,
        lambda: HarnessError(f"There is no plan {path}.", "Make one: harness topic-ids plan --out plan.json"),
        "Make it again: harness topic-ids plan",
    )


def plan(sources: Sources) -> RepairPlan:
    """Look at disks and cluster, and choose. Raises HarnessError for a KRaft cluster, and where one cannot be read."""
    data, connect = disks_of(sources), zookeeper_of(sources)
    if not connect:
        raise HarnessError(
            "Only a cluster with ZooKeeper is repaired: in KRaft the metadata log is what brokers believe.",
            "Name the ensemble by --zookeeper, or a broker's server.properties by --config.",
        )
    with connected(connect, security_of(sources)) as zookeeper:
        cluster = read_topics(zookeeper)
        check = compare(cluster, data)
        known = [cluster.topics[name] for name in harmed(check) if name in cluster.topics]
        return plan_repair(check, cluster, data, read_live_state(zookeeper, known), connect)


def print_plan(console: Console, made: RepairPlan, file: str) -> None:
    """Print what is to be done, or why nothing is."""
    for each in made.topics[:_SHOWN]:
        ids = f"{', '.join(each.on_disk)} on disks, {each.in_zookeeper or 'none'} in ZooKeeper"
        console.print(Text(visible(f"{each.topic}: {each.choice.value} ({ids})")))
    if len(made.topics) > _SHOWN:
        console.print(Text(f"… and {len(made.topics) - _SHOWN} more topics", style="dim"))
    for refusal in made.refusals[:_SHOWN]:
        console.print(Text(f"refused: {visible(refusal)}"))
    if len(made.refusals) > _SHOWN:
        console.print(Text(f"… and {len(made.refusals) - _SHOWN} more reasons", style="dim"))
    for number, step in enumerate(steps(made, file), start=1):
        console.print(Text(f"{number}. {step}"))
    console.print(Text(outcome(made), style="bold"))


def repair_zookeeper(made: RepairPlan, folder: BackupFolder, security: Path | None, *, apply: bool) -> Iterator[str]:
    """Put old ids back, and change the controller; yield what is done. Raises HarnessError."""
    if made.refusals:
        raise HarnessError(f"The plan itself is a refusal: {made.refusals[0]}", "Make it again when that is gone.")
    if not made.chosen(Choice.PUT_BACK):
        raise HarnessError(
            "By this plan nothing is put back in ZooKeeper.", "Name a broker's server.properties by --config."
        )
    with _writing(made.zookeeper, security, apply=apply) as zookeeper:
        begun = folder.manifest.read_if_exists()
        backup = begun or Backup(made.zookeeper, (), (), nodes_to_change(zookeeper, made))
        yield from (f"put back: {each.path} {each.before} → {each.after}" for each in backup.nodes[:_SHOWN])
        if not apply:
            yield f"then change the controller. {_DRY}"
            return
        if begun is None:
            folder.keep(backup)
        epoch = put_back(zookeeper, folder, backup)
        yield f"{counted(len(backup.nodes), 'topic')} put back; the controller of epoch {epoch} has left them so."


def repair_broker(
    made: RepairPlan, config: Path, exports: Sequence[Path], folder: BackupFolder, security: Path | None, *, apply: bool
) -> Iterator[str]:
    """Delete the files with an old id of the broker of this host; yield what is done. Raises HarnessError."""
    own = _own_disks(config)
    broker = own[0].broker
    others = [disk for file in exports for disk in read_export(file)]
    with connected(made.zookeeper, _security(security)) as zookeeper:
        cluster = read_topics(zookeeper)
        known = [cluster.topics[each.topic] for each in made.topics if each.topic in cluster.topics]
        why = list(objections(made, broker, cluster, (*own, *others), read_live_state(zookeeper, known)))
    if why:
        raise HarnessError(f"Nothing was changed. {' '.join(why)}", "See the plan: harness topic-ids plan")
    with stopped(Path(disk.path) for disk in own):
        files = files_of(made, broker, _own_disks(config))
        refuse_links(files)
        yield from (f"delete: {path}" for _, path in files[:_SHOWN])
        if not apply:
            yield f"{counted(len(files), 'file')} of broker {broker}. {_DRY}"
            return
        backup = folder.copy_all(made.zookeeper, files)
        count = delete_files(folder, backup)
    yield f"{counted(count, 'file')} of broker {broker} deleted; {folder.path} has them. Start the broker."


def restore(folder: BackupFolder, security: Path | None, *, apply: bool) -> Iterator[str]:
    """Bring back what a repair changed; yield what is done. Raises HarnessError."""
    backup = folder.checked()
    paths = [*(each.path for each in backup.files), *(each.path for each in backup.nodes)]
    yield from (f"restore: {path}" for path in paths[:_SHOWN])
    if not apply:
        yield _DRY
        return
    with stopped(map(Path, backup.data)):
        count = restore_files(folder, backup)
    if backup.files:
        yield f"{counted(count, 'file')} restored."
    if backup.nodes:
        with _writing(backup.zookeeper, security, apply=True) as zookeeper:
            epoch = take_back(zookeeper, folder, backup)
        then = f"the controller of epoch {epoch} knows it" if epoch else "the controller was left, lest it make new ids"
        yield f"{counted(len(backup.nodes), 'topic')} in ZooKeeper as before; {then}."


def _own_disks(config: Path) -> tuple[DataDirectory, ...]:
    found = read_broker_config(config)
    return tuple(replace(read_data_directory(path), settings=found.settings) for path in found.data)


@contextmanager
def _writing(connect: str, security: Path | None, *, apply: bool) -> Iterator[ZooKeeper]:
    with connected(connect, _security(security), writes=apply) as zookeeper:
        yield zookeeper


def _security(path: Path | None) -> ZooKeeperSecurity:
    return read_security(path) if path else ZooKeeperSecurity()
