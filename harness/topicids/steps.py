"""What an operator does by a plan, step by step; pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from harness.base.text import counted
from harness.model.topic_repair import MEANS, Choice, RepairPlan
from harness.topicids.sentences import counted_directories


def outcome(plan: RepairPlan) -> str:
    """Return what a plan comes to, in a sentence."""
    if not plan.topics and not plan.refusals:
        return "Nothing to repair."
    if plan.refusals:
        return f"Refused: {counted(len(plan.refusals), 'reason')}. Nothing is to be changed before they are gone."
    chosen = [f"{each.value} ({counted(len(of), 'topic')})" for each in Choice if (of := plan.chosen(each))]
    return f"A repair: {', then '.join(chosen)}."


def steps(plan: RepairPlan, file: str, security: str = "") -> tuple[str, ...]:
    """Return the steps, with the commands of each; none where there is nothing to do, or nothing that is safe.

    `file` is the plan's, `security` the one of `--zookeeper-security`, empty where none was given.
    """
    return () if plan.refusals or not plan.topics else tuple(_steps(plan, file, security))


def _steps(plan: RepairPlan, file: str, security: str) -> Iterator[str]:
    secured = ["--zookeeper-security", security] if security else []
    asked, every = ["--zookeeper", plan.zookeeper, *secured], _merged(plan.brokers)
    if plan.chosen(Choice.PUT_BACK):
        repair = _command("repair", file, *secured, *every, "--backup", "backup-zookeeper", "--apply")
        yield f"{MEANS[Choice.PUT_BACK]} {_EXPORT_ALL} Where ZooKeeper can be reached: {repair}"
        if plan.order:
            again = _command("plan", *asked, *every, "--out", file)
            yield f"Make the plan again for the others. {_EXPORT_ALL} Where ZooKeeper can be reached: {again}"
            return
    for number, broker in enumerate(plan.order):
        yield _of_broker(plan, file, secured, number, broker)
    yield f"Check once more. {_EXPORT_ALL} Where ZooKeeper can be reached: {_command('check', *asked, *every)}"


def _of_broker(plan: RepairPlan, file: str, secured: Sequence[str], number: int, broker: int) -> str:
    count = sum(
        len(place.partitions) for each in plan.chosen(Choice.DELETE) for place in each.places if place.broker == broker
    )
    merged = _merged(plan.order[:number])
    backup = ("--backup", f"backup-{broker}", "--apply")
    repair = _command("repair", file, "--config", "server.properties", *secured, *merged, *backup)
    last = " It is the last: what only it has can be neither read nor written meanwhile." * (
        number == len(plan.order) - 1
    )
    return (
        f"Broker {broker} ({counted_directories(count)}): stop it. On its host: {repair}. Start it, wait until it "
        f"serves, and {_export(str(broker))}.{last}"
    )


def _merged(brokers: Sequence[int]) -> list[str]:
    return [word for each in brokers for word in ("--merge", f"broker-{each}.jsonl")]


def _export(broker: str) -> str:
    return _command("check", "--config", "server.properties", "--export", f"broker-{broker}.jsonl")


def _command(*words: str) -> str:
    return shlex.join(["harness", "topic-ids", *words])


_EXPORT_ALL = f"On each broker's host, now: {_export('N')}."
