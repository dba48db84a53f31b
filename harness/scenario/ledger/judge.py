"""What a history proves; pure, and in one pass over each list."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.scenario.ledger.history import NO_TRANSACTION, Ended, History, Place


@dataclass(frozen=True, slots=True)
class Findings:
    """Numbers of records by what became of them, each ascending.

    - `lost`: acknowledged, in a transaction that was committed or in none, and not there.
    - `duplicated`: there more than once, other than `resent`.
    - `resent`: there more than once, each time by another epoch of the producer. It takes a new one where it does not
      know what became of a batch, and sends what has no answer anew: idempotence ends there (KIP-360).
    - `reordered`: there, in a partition in which a record that was sent later lies before it.
    - `unacknowledged`: consumed or there without ever having been acknowledged, which is no fault: an answer was lost.
    - `vanished`: consumed, and not there in the end.
    - `skipped`: there, and never given to a consumer that was given what lies behind it.
    - `changed`: consumed at a place, and in the end elsewhere only.
    - `foreign`: consumed or there, and never sent.
    - `rekeyed`: there, with another key than it was sent with.
    - `misplaced`: there, and not where the broker said.
    - `aborted`: consumed or there, of a transaction that was aborted.
    - `torn`: transactions of which a part is there, and not all.
    - `scattered`: keys whose records lie in several partitions.
    - `receded`: partitions that end below a high watermark that was seen.
    """

    lost: tuple[int, ...] = ()
    duplicated: tuple[int, ...] = ()
    resent: tuple[int, ...] = ()
    reordered: tuple[int, ...] = ()
    unacknowledged: tuple[int, ...] = ()
    vanished: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    foreign: tuple[int, ...] = ()
    rekeyed: tuple[int, ...] = ()
    misplaced: tuple[int, ...] = ()
    aborted: tuple[int, ...] = ()
    torn: tuple[int, ...] = ()
    scattered: tuple[str, ...] = ()
    receded: tuple[int, ...] = ()


def judge(history: History) -> Findings:
    """Return what became of the records of a history."""
    counts = Counter(number for _, number in history.stored)
    seen = {number for _, number in history.seen}
    known = seen | counts.keys()
    copies = repeated(history)
    # No producer takes a new epoch within a transaction, so that nothing of one is sent again by another.
    duplicated = {
        number
        for number, places in copies.items()
        if _written_twice(history, places) or _ending(history, number) is not None
    }
    return Findings(
        lost=_sorted(number for number in history.acknowledged if _counts(history, number) and not counts[number]),
        duplicated=_sorted(duplicated),
        resent=_sorted(copies.keys() - duplicated),
        reordered=_sorted(_out_of_order(history)),
        unacknowledged=_sorted(number for number in known & history.sent.keys() if number not in history.acknowledged),
        vanished=_sorted(seen - counts.keys()),
        skipped=_sorted(_passed_over(history, seen)),
        changed=_sorted(number for number in _read_elsewhere(history) if counts[number]),
        foreign=_sorted(known - history.sent.keys()),
        rekeyed=_sorted(number for number, key in history.stored_keys.items() if key != history.keys.get(number, "")),
        misplaced=_sorted(_misplaced(history)),
        aborted=_sorted(number for number in known if _ending(history, number) is Ended.ABORTED),
        torn=_sorted(_torn(history, counts)),
        scattered=tuple(sorted(_scattered(history))),
        receded=_sorted(part for part, highest in history.highest.items() if history.ends.get(part, highest) < highest),
    )


def _sorted(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(numbers))


def _ending(history: History, number: int) -> Ended | None:
    """Return how a record's transaction ended, None where it has none."""
    transaction = history.sent.get(number, NO_TRANSACTION)
    return None if transaction == NO_TRANSACTION else history.transactions.get(transaction, Ended.UNKNOWN)


def _counts(history: History, number: int) -> bool:
    """Whether an acknowledged record must be there."""
    return _ending(history, number) in (None, Ended.COMMITTED)


def repeated(history: History) -> dict[int, list[Place]]:
    """Return where each record lies that is there more than once."""
    places = defaultdict(list)
    for place, number in history.stored:
        places[number].append(place)
    return {number: found for number, found in places.items() if len(found) > 1}


def _written_twice(history: History, places: Iterable[Place]) -> bool:
    """Whether a broker took the same batch twice; so it is said where nobody knows who wrote a copy.

    A record that is sent again stays in its partition, and is another batch only to another epoch of its producer.
    """
    copies = list(places)
    epochs = [history.writers[each][:2] for each in copies if each in history.writers]
    return len(set(epochs)) < len(copies) or len({partition for partition, _ in copies}) > 1


def _out_of_order(history: History) -> set[int]:
    """Return what lies behind a record that was sent later; of a record that is there twice the first place counts."""
    turn = {number: at for at, number in enumerate(history.sent)}
    firsts: dict[int, Place] = {}
    for place, number in sorted(history.stored, key=lambda each: each[0]):
        if number in turn:
            firsts.setdefault(number, place)
    latest: dict[int, int] = {}
    found = set()
    for number, (partition, _) in sorted(firsts.items(), key=lambda each: each[1]):
        if turn[number] < latest.get(partition, -1):
            found.add(number)
        latest[partition] = max(turn[number], latest.get(partition, -1))
    return found


def _passed_over(history: History, seen: Collection[int]) -> set[int]:
    furthest: dict[int, int] = {}
    for (partition, offset), _ in history.seen:
        furthest[partition] = max(offset, furthest.get(partition, -1))
    return {
        number
        for (partition, offset), number in history.stored
        if offset < furthest.get(partition, -1) and number not in seen
    }


def _read_elsewhere(history: History) -> set[int]:
    """Return what a consumer read at a place at which it does not lie in the end."""
    return {number for _, number in set(history.seen) - set(history.stored)}


def _misplaced(history: History) -> set[int]:
    places = defaultdict(set)
    for place, number in history.stored:
        places[number].add(place)
    told = {number: place for number, place in history.acknowledged.items() if place[1] >= 0}
    return {number for number, place in told.items() if number in places and place not in places[number]}


def _torn(history: History, counts: Counter[int]) -> set[int]:
    """Return transactions that are there in part.

    The whole of one that was committed is all that was sent in it, as a commit waits for every answer. Of another it is
    all that was acknowledged, as soon as any of it is there, whether that was acknowledged or not.
    """
    there = {history.sent[number] for number in counts.keys() & history.sent.keys()}
    lacking = {
        transaction
        for number, transaction in history.sent.items()
        if not counts[number] and (number in history.acknowledged or _counts(history, number))
    }
    return (there & lacking) - {NO_TRANSACTION}


def _scattered(history: History) -> set[str]:
    partitions = defaultdict(set)
    for (partition, _), number in history.stored:
        if number in history.keys:
            partitions[history.keys[number]].add(partition)
    return {key for key, found in partitions.items() if len(found) > 1}


_NAMED = 5


def violations(findings: Findings, *, idempotent: bool, binding: bool = True) -> tuple[str, ...]:
    """Return in sentences what no build may do, beside losing records and writing them twice.

    Without idempotence a retry may put a record behind later ones. What was seen may vanish or be another record, and a
    watermark recede, where no loss is binding: with acks=1 a leader that goes takes both with it, and of a record that
    was written twice the copy whose place was told.
    """
    wrong = (
        ("were consumed and are gone", findings.vanished if binding else ()),
        ("were not given to a consumer that read on behind them", findings.skipped if binding else ()),
        ("do not lie where they were consumed", findings.changed if binding else ()),
        ("were never sent", findings.foreign),
        ("have another key than they were sent with", findings.rekeyed),
        ("do not lie where the broker said", findings.misplaced if binding else ()),
        ("can be read although they were aborted", findings.aborted),
        ("lie behind records that were sent later", findings.reordered if idempotent else ()),
        ("are there twice in spite of idempotence", findings.duplicated if idempotent else ()),
    )
    said = [f"{len(numbers)} records {what}: {_some(numbers)}" for what, numbers in wrong if numbers]
    if findings.torn:
        said.append(f"{len(findings.torn)} transactions are there in part: {_some(findings.torn)}")
    if findings.scattered:
        said.append(f"{len(findings.scattered)} keys lie in several partitions: {_some(findings.scattered)}")
    if findings.receded and binding:
        said.append(f"the high watermark went back for good in partition {_some(findings.receded)}")
    return tuple(said)


def _some(numbers: Sequence[object]) -> str:
    return ", ".join(map(str, numbers[:_NAMED])) + (", …" if len(numbers) > _NAMED else "")
