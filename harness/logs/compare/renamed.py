"""Counts of a newer version in the words of base's: a line that was only reworded, or moved, is the same line; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.base.likeness import LIKE, likeness, most_alike, own_words
from harness.base.text import visible
from harness.logs.compare.counts import Count
from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.compare.template_families import family, unordered
from harness.logs.read.excerpts import excerpt
from harness.logs.read.rewordings import Rewording
from harness.logs.read.statements import MIN_LETTERS

Renamed = Mapping[str, Rewording]  # by the place of the candidate's statement
_Line = tuple[str, str, str]  # level, logger and text


def in_words_of_base(count: Count, renamed: Renamed) -> Count:
    """Return a count under the logger and the words that base's statement has; as it is where base's has the same."""
    found = renamed.get(count.statement)
    if found is None:
        return count
    template = unordered(found.template(count.template, count.values))
    own = family(template) if count.family else ""
    return replace(count, logger=found.logger(count.logger), template=template, family=own, wording=found.was.text)


def under_loggers_of_base(counts: Sequence[Count], base: str, candidates: Collection[str]) -> list[Count]:
    """Return counts in which candidates' lines stand under base's logger where only the logger's name differs.

    That is a text that base logs under a logger that the candidate does not use for it, and the candidate under one
    that base does not: one each, or those of classes of one name. A thread's logger is its own class, which may have
    moved although the statement has not.
    """
    loggers = _loggers(counts)
    moved = {arm: _moved_loggers(loggers[base], loggers[arm]) for arm in candidates}
    return [
        replace(each, logger=moved[arm].get((each.logger, each.key), each.logger))
        if (arm := each.where.arm) in moved
        else each
        for each in counts
    ]


def in_like_words_of_base(counts: Sequence[Count], base: str, candidates: Collection[str]) -> list[Count]:
    """Return counts in which candidates' lines of no known statement have base's words where those are alike.

    Messages that are put together piece by piece are in no source as they are logged. Such a line that base alone logs
    is one that a candidate alone does if both come at one level from a class of one name and read alike, or one begins
    as the other is; the most alike come first, each once.
    """
    unplaced = {arm: _unplaced(counts, arm) for arm in (base, *candidates)}
    renamed = {arm: _like_words(unplaced[base], unplaced[arm]) for arm in candidates}
    return [
        replace(each, logger=was.logger, template=was.template, family=was.family)
        if (was := renamed.get(each.where.arm, {}).get((each.level, each.logger, each.key)))
        else each
        for each in counts
    ]


def runs_in_words_of_base(runs: Iterable[ObservedRun], pairs: Iterable[tuple[Count, Count]]) -> list[ObservedRun]:
    """Return what is known of a candidate's own Kafka in base's words, as far as its counts have shown these.

    `pairs` are counts as they were logged, each beside what it was compared as.
    """
    words = {(was.logger, was.key): (now.logger, now.key) for was, now in pairs}
    return [ObservedRun(run.scenario, _in_words(run.counts, words)) for run in runs]


def _in_words(counts: Mapping[Line, int], words: Mapping[tuple[str, str], tuple[str, str]]) -> Mapping[Line, int]:
    found: Counter[Line] = Counter()
    for line, number in counts.items():
        logger, text = words.get((line.logger, line.text), (line.logger, line.text))
        found[line._replace(logger=logger, text=text)] += number
    return dict(found)


def _unplaced(counts: Iterable[Count], arm: str) -> Mapping[_Line, Count]:
    """Return the first of each line that an arm logs without a known statement; items of a list are compared alone."""
    found: dict[_Line, Count] = {}
    for each in counts:
        if each.where.arm == arm and each.family and not each.statement:
            found.setdefault((each.level, each.logger, each.key), each)
    return found


def _like_words(base: Mapping[_Line, Count], candidate: Mapping[_Line, Count]) -> Mapping[_Line, Count]:
    """Return base's lines for those of a candidate that are these in like words."""
    texts = [{each.key for each in side.values()} for side in (base, candidate)]
    gone, new = (
        _by_class(each for line, each in side.items() if line[2] not in other)
        for side, other in ((base, texts[1]), (candidate, texts[0]))
    )
    return {
        (level, now.logger, now.key): was
        for level, name in gone.keys() & new.keys()
        for was, now in _most_alike(gone[level, name], new[level, name])
    }


def _by_class(counts: Iterable[Count]) -> Mapping[tuple[str, str], Mapping[str, Count]]:
    """Return by level and simple name of the logger each text's first line."""
    found: dict[tuple[str, str], dict[str, Count]] = defaultdict(dict)
    for each in counts:
        found[each.level, _simple(each.logger)].setdefault(each.key, each)
    return found


def _most_alike(was: Mapping[str, Count], now: Mapping[str, Count]) -> Iterator[tuple[Count, Count]]:
    of_base, of_candidate = ({text: own_words(text) for text in side} for side in (was, now))
    return ((was[old], now[new]) for old, new in most_alike(of_base, of_candidate, _alike))


def _alike(one: str, other: str) -> float:
    """Return how alike two texts are; alike enough where one begins as the other is."""
    shorter, longer = sorted((one.strip(), other.strip()), key=len)
    begins = longer.startswith(shorter) and sum(map(str.isalpha, shorter)) >= MIN_LETTERS
    return max(likeness(one, other), LIKE if begins else 0.0)


def _loggers(counts: Iterable[Count]) -> Mapping[str, Mapping[str, set[str]]]:
    """Return by arm, for each text, the loggers under which it is logged."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in counts:
        found[each.where.arm][each.key].add(each.logger)
    return found


def _moved_loggers(base: Mapping[str, set[str]], candidate: Mapping[str, set[str]]) -> dict[tuple[str, str], str]:
    """Return base's logger for the loggers and texts of a candidate that base logs under another."""
    found: dict[tuple[str, str], str] = {}
    for text in base.keys() & candidate.keys():
        gone, new = base[text] - candidate[text], candidate[text] - base[text]
        for logger in new:
            alike = gone if len(gone) == len(new) == 1 else {each for each in gone if _simple(each) == _simple(logger)}
            if len(alike) == 1:
                found[logger, text] = next(iter(alike))
    return found


def _simple(logger: str) -> str:
    return logger.rpartition(".")[2].rstrip("$")


def renamed_sentences(
    base: str, candidate: str, renamed: Renamed, logged: Sequence[Count], compared: Sequence[Count]
) -> tuple[str, ...]:
    """Return in sentences what a candidate logs in other words than base, or by another class.

    `compared` are the counts that were `logged`, in base's words and under its loggers.
    """
    pairs = [(was, now) for was, now in zip(logged, compared, strict=True) if now.where.arm == candidate]
    seen = {was.statement for was, _ in pairs}
    reworded = (renamed[place] for place in sorted(renamed) if place in seen and not renamed[place].is_moved)
    texts = {(each.now.text, each.was.text) for each in reworded}
    texts |= {(was.key, now.key) for was, now in pairs if was.key != now.key and not was.statement}
    moved = {(was.logger, was.key) for was, now in pairs if was.logger != now.logger and was.key == now.key}
    return (*(_reworded(base, candidate, *each) for each in sorted(texts)), *_moved(base, candidate, len(moved)))


def _reworded(base: str, candidate: str, now: str, was: str) -> str:
    now, was = (excerpt(visible(text)) for text in (now, was))
    return f"{candidate} logs “{now}” where {base} logs “{was}”."


def _moved(base: str, candidate: str, moved: int) -> Iterator[str]:
    if moved:
        kinds = "One kind of line comes" if moved == 1 else f"{moved} kinds of lines come"
        yield f"{kinds} from another class on {candidate} than on {base}, in the same words."
