"""What an operator does by a plan, step by step; pure."""

from __future__ import annotations

from collections.abc import Iterator

from harness.base.text import counted
from harness.model.topic_repair import MEANS, Choice, RepairPlan
from harness.topicids.sentences import counted_directories

_COMMAND = "harness topic-ids"


def outcome(plan: RepairPlan) -> str:
    """Return what a plan comes to, in a sentence."""
    if not plan.topics and not plan.refusals:
        return "Nothing to repair."
    if plan.refusals:
        return f"Refused: {counted(len(plan.refusals), 'reason')}. Nothing is to be changed before they are gone."
    chosen = [f"{each.value} ({counted(len(of), 'topic')})" for each in Choice if (of := plan.chosen(each))]
    return f"A repair: {', then '.join(chosen)}."


def steps(plan: RepairPlan, file: str) -> tuple[str, ...]:
    """Return the steps, with the commands of each; none where there is nothing to do, or nothing that is safe."""
    return () if plan.refusals or not plan.topics else tuple(_steps(plan, file))


def _steps(plan: RepairPlan, file: str) -> Iterator[str]:
    if plan.chosen(Choice.PUT_BACK):
        merged = "".join(f" --merge broker-{each}.jsonl" for each in plan.brokers)
        yield (
            f"{MEANS[Choice.PUT_BACK]} On each broker's host, now: {_COMMAND} check --config server.properties "
            f"--export broker-N.jsonl. Where ZooKeeper can be reached: {_COMMAND} repair {file}{merged} --backup B "
            "--apply"
        )
        if plan.order:
            yield f"Make the plan again for the others: {_COMMAND} plan …"
            return
    for number, broker in enumerate(plan.order):
        yield _of_broker(plan, file, broker, number)
    yield f"Check once more, with every broker's export: {_COMMAND} check …"


def _of_broker(plan: RepairPlan, file: str, broker: int, number: int) -> str:
    count = sum(
        len(place.partitions) for each in plan.chosen(Choice.DELETE) for place in each.places if place.broker == broker
    )
    merged = "".join(f" --merge broker-{each}.jsonl" for each in plan.order[:number])
    last = " It is the last: what only it has can be neither read nor written meanwhile." * (
        number == len(plan.order) - 1
    )
    return (
        f"Broker {broker} ({counted_directories(count)}): stop it. On its host: {_COMMAND} repair {file} "
        f"--config server.properties{merged} --backup backup-{broker} --apply. Start it, wait until it serves, and "
        f"{_COMMAND} check --config server.properties --export broker-{broker}.jsonl.{last}"
    )
