"""What a check comes to, in a sentence; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from harness.base.progress import duration
from harness.base.text import counted
from harness.model.topic_ids import Answer, Finding, IdState, TopicIdCheck
from harness.topicids.records import DataDirectory

_IN_HOURS, _HOURS_OF_DAY = 2, 24
_DIFFERS: Mapping[IdState, str] = {
    IdState.DIFFERENT: "another id than {where}",
    IdState.MISSING_IN_CLUSTER: "a topic that has no id in {where}, and has one on disks",
    IdState.RECREATED: "the id of an earlier topic of that name, by all that is seen",
    IdState.SHARED: "the id that another topic has too",
    IdState.UNREADABLE: "a file that Kafka cannot read",
    IdState.MISSING_FILE: "no id, without which no log is loaded in KRaft mode",
}


def sentence(check: TopicIdCheck) -> str:
    """Return the answer in a sentence."""
    if check.answer is Answer.HEALTHY:
        same = check.counts.get(IdState.EQUAL, 0)
        if not same:
            count = counted_directories(check.compared)
            return (
                f"Healthy: no id in {count} of {brokers(check.brokers)} differs from {check.source}; {_others(check)}."
            )
        rest = check.directories - same
        more = f"; {_others(check)}" if rest else ""
        return (
            f"Healthy: {counted_directories(same)} of {brokers(check.brokers)} "
            f"{'has' if same == 1 else 'have'} the ids that {check.source} has{more}."
        )
    if check.answer is Answer.MISMATCH:
        harmful = [each for each in check.findings if each.answer is Answer.MISMATCH]
        return f"Mismatch: restart no broker. {'; '.join(_differences(harmful, check))}."
    if not check.compared:
        more = f" ({_others(check)})" if check.directories else ""
        return (
            f"Undecided: nothing was compared, no directory of a partition that {check.source} knows was found{more}."
        )
    seen = f"nothing in {counted_directories(check.directories)} differs"
    return f"Undecided: {seen}, and {counted(len(_open(check)), 'thing')} could not be looked at."


def brokers(ids: Sequence[int]) -> str:
    """Return brokers as words, such as `brokers 1, 2`."""
    named = [str(each) if each >= 0 else "unknown" for each in ids]
    return f"broker{'' if len(named) == 1 else 's'} {', '.join(named)}" if named else "no broker"


def state_words(state: IdState, check: TopicIdCheck) -> str:
    """Return a state's name."""
    if state is IdState.MISSING_IN_CLUSTER and not check.in_zookeeper:
        return "missing in the metadata log"
    return state.value


def places(finding: Finding) -> str:
    """Return where a finding's directories are: broker, data directory, partitions."""
    return "; ".join(f"{brokers([place.broker])}, {place.data}: {ranges(place.partitions)}" for place in finding.places)


def ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs of them folded: `0-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def ages(data: Iterable[DataDirectory], now: float) -> Iterator[str]:
    """Yield how old exports are, by this host's clock: what came later is not in them."""
    oldest: dict[int, float] = {}
    for disk in data:
        if disk.exported:
            oldest[disk.broker] = min(disk.exported, oldest.get(disk.broker, disk.exported))
    for broker, at in sorted(oldest.items()):
        ago = f"{_since(now - at)} ago" if at <= now else "by a clock that is ahead of this host's"
        yield f"The disks of {brokers([broker])} are as they were exported at {moment(at)}, {ago}."


def _since(seconds: float) -> str:
    hours = int(seconds // 3600)
    if hours < _IN_HOURS:
        return duration(seconds)
    return f"{hours} hours" if hours < 2 * _HOURS_OF_DAY else f"{hours // _HOURS_OF_DAY} days"


def moment(seconds: float) -> str:
    """Return a time, in seconds since 1970, to the minute."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def counted_directories(count: int) -> str:
    """Return a number of directories with commas."""
    return f"{count:,} director{'y' if count == 1 else 'ies'}"


def _others(check: TopicIdCheck) -> str:
    quiet = ((state, count) for state, count in check.counts.items() if state is not IdState.EQUAL)
    return ", ".join(f"{state_words(state, check)}: {count:,}" for state, count in quiet)


def _differences(findings: Sequence[Finding], check: TopicIdCheck) -> Iterator[str]:
    """Yield of each state how many directories are in it, and what differs from what."""
    where = "ZooKeeper" if check.in_zookeeper else "the metadata log"
    for state, says in _DIFFERS.items():
        of = [each for each in findings if each.state is state]
        if of:
            count, topics = sum(each.directories for each in of), len({each.topic for each in of})
            verb = "has" if count == 1 else "have"
            yield f"{counted_directories(count)} of {counted(topics, 'topic')} {verb} {says.format(where=where)}"


def _open(check: TopicIdCheck) -> list[object]:
    return [*check.gaps, *(each for each in check.findings if each.answer is Answer.UNDECIDED)]
