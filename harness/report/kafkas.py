"""Which Kafka each arm's nodes ran, as the live proofs in the journals show it; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.model.arms import Arm
from harness.model.events import NodeProved
from harness.model.verdict import VerdictRecord
from harness.rundir.journal import Entry, events_of


@dataclass(frozen=True, slots=True)
class KafkaView:
    """The Kafka of an arm: what it is, what was seen of its jars, and the names of those that base does not have."""

    arm: str
    kafka: str
    seen: str
    differing: tuple[str, ...]


def kafka_views(record: VerdictRecord, journals: Mapping[str, Sequence[Entry]]) -> tuple[KafkaView, ...]:
    """Return the Kafka of each arm; none for arms that were run before whole Kafkas were recorded."""
    return tuple(_view(arm, _proofs(record, arm, journals)) for arm in record.arms if arm.build.kafka.version)


def _proofs(record: VerdictRecord, arm: Arm, journals: Mapping[str, Sequence[Entry]]) -> list[NodeProved]:
    runs = (run.key.folder for run in record.runs if run.arm == arm.name)
    events = (event for folder in runs for event in events_of(journals.get(folder, ())))
    return [event for event in events if isinstance(event, NodeProved)]


def _view(arm: Arm, proofs: Sequence[NodeProved]) -> KafkaView:
    kafka = arm.build.kafka
    whose = kafka.place or "Apache's release"
    differing = tuple(dict.fromkeys(name for proof in proofs for name in proof.differing))
    return KafkaView(arm.name, f"Kafka {kafka.version}, {whose}", _seen(proofs, len(differing)), differing)


def _seen(looks: Sequence[NodeProved], differing: int) -> str:
    proofs = [each for each in looks if each.jars]
    if not proofs:
        return "No node was seen with its jars."
    jars = " or ".join(map(str, sorted({proof.jars for proof in proofs})))
    are = "is" if differing == 1 else "are"
    others = f"{differing} {are} not base's, all others are" if differing else "all are base's"
    return f"{_looked(len(proofs), len(looks))}, it held {jars} jars open; by their digests, {others}."


def _looked(seen: int, looks: int) -> str:
    if looks == 1:
        return "In the only look at a started node"
    return f"In {f'each of {looks}' if seen == looks else f'{seen} of {looks}'} looks at started nodes"
