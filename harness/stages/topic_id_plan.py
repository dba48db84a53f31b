"""`harness topic-ids plan`: what fits is chosen, shown, and kept for `repair`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.base.errors import HarnessError, reason_of
from harness.base.recordfile import RecordFile
from harness.base.text import visible
from harness.model import topic_repair
from harness.model.topic_repair import RepairPlan
from harness.stages.topic_ids import Sources, disks_of, security_of, zookeeper_of
from harness.topicids.comparing import compare
from harness.topicids.live_state import read_live_state
from harness.topicids.planning import harmed, plan_repair
from harness.topicids.steps import outcome, steps
from harness.topicids.zookeeper import connected, read_topics

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


def write_plan(made: RepairPlan, path: Path) -> None:
    """Write a plan. Raises HarnessError where that cannot be done."""
    try:
        plan_file(path).write(made)
    except OSError as error:
        raise HarnessError(f"{path} cannot be written: {reason_of(error)}.", "Name another file by --out.") from error


def plan(sources: Sources) -> RepairPlan:
    """Look at disks and cluster, and choose. Raises HarnessError for a KRaft cluster, and where one cannot be read."""
    data, connect = disks_of(sources), zookeeper_of(sources)
    if not connect:
        raise HarnessError(
            "Only a cluster with ZooKeeper is repaired: in KRaft the metadata log is what brokers believe.",
            "Name the ensemble by --zookeeper, or a broker's server.properties by --config.",
        )
    with connected(connect, security_of(sources), current=True) as zookeeper:
        cluster = read_topics(zookeeper)
        check = compare(cluster, data)
        known = [cluster.topics[name] for name in harmed(check) if name in cluster.topics]
        return plan_repair(check, cluster, data, read_live_state(zookeeper, known), connect)


def print_plan(console: Console, made: RepairPlan, file: str, security: Path | None) -> None:
    """Print what is to be done, with the commands, or why nothing is."""
    for each in made.topics[:_SHOWN]:
        ids = f"{', '.join(each.on_disk)} on disks, {each.in_zookeeper or 'none'} in ZooKeeper"
        console.print(Text(visible(f"{each.topic}: {each.choice.value} ({ids})")))
    if len(made.topics) > _SHOWN:
        console.print(Text(f"… and {len(made.topics) - _SHOWN} more topics", style="dim"))
    for refusal in made.refusals[:_SHOWN]:
        console.print(Text(f"refused: {visible(refusal)}"))
    if len(made.refusals) > _SHOWN:
        console.print(Text(f"… and {len(made.refusals) - _SHOWN} more reasons", style="dim"))
    for number, step in enumerate(steps(made, file, str(security or "")), start=1):
        console.print(Text(f"{number}. {visible(step)}"))
    console.print(Text(outcome(made), style="bold"))
