"""What stands in the gaps of log statements: the words that matter, without ports, ids and times, which every run has.

A *slot* is a place where a statement writes a value: a gap of its text (`Completed transition to {} from …`), a
`key=word` or a known address in brackets, the exception below a message, or a key of a configuration dump. Its *words*
are what stood there. Numbers, addresses and ids are masked in them as in templates, because they differ in every run,
but a known address says whose it is; only the plain numbers of a configuration dump are kept, but for those of keys
that are a port or an id. The word that a node wrote last into a gap is compared by itself: it is the state that the
node was left in.

A word that is in the runs of one arm and in none of the other is set apart from noise as a line is (`noise`): words are
counted as lines are, run by run, and what comes and goes within an arm is noise.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from harness.logs.compare.counts import Count, Where
from harness.logs.compare.noise import Noise
from harness.logs.compare.slots import MAX_WORD, Slot, Word
from harness.logs.compare.stock import Judged, Stock, settled
from harness.logs.compare.tables import Key, Place
from harness.logs.compare.template_families import WHOSE, family, insides, unordered
from harness.model.findings import Significance, StockRate

MIN_LETTERS = 8  # that a statement always writes: `{}: {}` says nothing of what its values are

_LETTER = re.compile(r"[A-Za-z]")
_MASK = re.compile(r"<\w+>|ⁿ")
_KEY_VALUE = re.compile(
    r"(?<![\w.])([A-Za-z][\w.]*)(?:=|: ?(?=true\b|false\b|null\b|[A-Z][A-Z_]+\b))([A-Za-z][\w.-]*)(?![\w.<-])"
)
_THROWN = re.compile(r"(?m)^(?:Caused by: )?((?:\w+\.)+\w*(?:Exception|Error))\b")
_NUMBERS = re.compile(r"<n>(?:, …)?")
_OWN = re.compile(r"(?:^|[. ])(?:id|port)$")  # a key whose number names a node or a port

_WORST = (Significance.BEYOND, Significance.UNKNOWN, Significance.WITHIN)


@dataclass(frozen=True, slots=True)
class Side:
    """One arm's words in a slot, those that differ first; what it logged with those, and how often in each run.

    `shown` is what it logged with those words, or with any if none of its own differ.
    """

    words: tuple[Word, ...]
    logged: tuple[Count, ...]
    shown: tuple[Count, ...]
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A slot in which two arms wrote different words, at one place; how surely these words differ."""

    place: Place
    slot: Slot
    significance: Significance
    base: Side
    candidate: Side
    stock: StockRate | None = None  # of the surest word

    @property
    def logged(self) -> tuple[Count, ...]:
        """What was logged with the words that differ."""
        return self.base.logged + self.candidate.logged

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        """Where that was first logged."""
        return frozenset((count.file, count.line) for count in self.logged)


class Values:
    """The words in the slots of a set of runs; made once for all contrasts."""

    def __init__(self, found: Iterable[tuple[Count, Slot, Word]], seconds: Mapping[Where, float]) -> None:
        """Take the words of all arms' counts (`word_counts`); `seconds` says which runs there are."""
        self._logged: dict[tuple[Place, Slot], dict[Word, list[Count]]] = defaultdict(lambda: defaultdict(list))
        for count, slot, word in found:
            place = Place(count.where.scenario, count.where.node_role)
            self._logged[place, slot][word].append(count)
        self._noise = Noise(list(self._counts()), seconds)

    def _counts(self) -> Iterator[Count]:
        """Yield how often each run wrote each word, as if it were a line."""
        for (place, slot), by_word in self._logged.items():
            for word, counts in by_word.items():
                times: dict[tuple[str, int], int] = defaultdict(int)
                for count in counts:
                    times[count.where.arm, count.where.repeat] += count.count
                for (arm, repeat), number in times.items():
                    where = Where(arm, place.scenario, place.node_role, "", repeat)
                    yield Count(where, "any", slot.logger, _name(slot, word), number, "", 0, "")

    def changes(
        self, base: str, candidate: str, places: Collection[tuple[str, str]], stock: Stock | None = None
    ) -> list[ValueChange]:
        """Return the slots in which one arm wrote words that the other did not, at (scenario, kind of node) `places`.

        Of slots that changed in the same lines only the first is a finding: it shows the lines.
        """
        found: dict[tuple[Place, str, frozenset[tuple[str, int]]], ValueChange] = {}
        for place, slot in sorted(self._logged, key=lambda each: (each[1].hidden, each[1].text)):
            if (place.scenario, place.node_role) in places:
                change = self._change(place, slot, (base, candidate), stock)
                if change is not None:
                    found.setdefault((place, slot.logger, change.lines), change)
        return list(found.values())

    def _change(
        self, place: Place, slot: Slot, arms: tuple[str, str], stock: Stock | None = None
    ) -> ValueChange | None:
        base, candidate = arms
        by_arm = {arm: self._of(place, slot, arm) for arm in arms}
        differing = by_arm[base].keys() ^ by_arm[candidate].keys()
        if not all(by_arm.values()) or not differing:
            return None
        judged = {word: _judged(stock, place, slot, word, word in by_arm[candidate]) for word in differing}
        known = {word: self._significance(place, slot, word, arms, judged[word]) for word in differing}
        best = min(known.values(), key=_WORST.index)
        if slot.hidden and best is not Significance.BEYOND:
            return None
        surest = sorted(word for word, significance in known.items() if significance is best)
        rate = _rate([judged[word] for word in surest if word in by_arm[candidate]], map(judged.get, surest))
        of_base, of_candidate = (self._side(place, slot, arm, surest, logged) for arm, logged in by_arm.items())
        return ValueChange(place, slot, best, of_base, of_candidate, rate)

    def _significance(
        self, place: Place, slot: Slot, word: Word, arms: tuple[str, str], judged: Judged | None
    ) -> Significance:
        key = Key(slot.logger, _name(slot, word))
        return settled(judged, lambda: self._noise.presence(place, key, *arms)).significance

    def _of(self, place: Place, slot: Slot, arm: str) -> dict[Word, list[Count]]:
        found = {w: [c for c in counts if c.where.arm == arm] for w, counts in self._logged[place, slot].items()}
        return {word: counts for word, counts in found.items() if counts}

    def _side(
        self, place: Place, slot: Slot, arm: str, surest: Collection[Word], logged: Mapping[Word, list[Count]]
    ) -> Side:
        own = sorted(logged.keys() & set(surest))
        keys = [Key("", ""), *(Key(slot.logger, _name(slot, word)) for word in own)]  # the first was never logged
        runs = zip(*(self._noise.runs(place, key, arm) for key in keys), strict=True)
        with_own = tuple(count for word in own for count in logged[word])
        shown = with_own or tuple(count for counts in logged.values() for count in counts)
        return Side((*own, *sorted(logged.keys() - surest)), with_own, shown, tuple(map(sum, runs)))


def _rate(of_candidate: Iterable[Judged | None], of_both: Iterable[Judged | None]) -> StockRate | None:
    """Return how often base's jar logs the word that says most: one of the candidate's, a flood first."""
    own = [each.rate for each in of_candidate if each]
    return max(own, key=lambda rate: (rate.flood, rate.unmatched), default=next((e.rate for e in of_both if e), None))


def _judged(stock: Stock | None, place: Place, slot: Slot, word: Word, of_candidate: bool) -> Judged | None:
    """Return what many runs of base's jar say of a word that one arm alone wrote."""
    if stock is None:
        return None
    key = Key(slot.logger, slot.text)
    return stock.new(place, key, word) if of_candidate else stock.vanished(place, key, word)


def _name(slot: Slot, word: Word) -> str:
    return f"{slot.text}\0{word}"


def word_counts(counts: Iterable[Count]) -> Iterator[tuple[Count, Slot, Word]]:
    """Yield the words of all slots, and those that a node wrote last in its phases as a slot of their own."""
    known: dict[tuple[object, ...], tuple[tuple[Slot, Word], ...]] = {}
    last: dict[tuple[str, str, str, int, int, Slot], list[tuple[Count, Word]]] = {}
    for count in counts:
        key = (count.logger, count.template, count.wording, count.values, count.family or count.excerpt)
        if key not in known:
            known[key] = tuple(words(count))
        where = count.where
        for slot, word in known[key]:
            yield count, slot, word
            # Of numbered things (`orders-<n>`) and of addresses the last shows which came last, and no state.
            if where.phase and count.values and not slot.hidden and "<" not in word and "ⁿ" not in word:
                node = (where.arm, where.scenario, where.node_role, where.repeat, count.node, slot)
                before = last.get(node, ())
                if not before or count.last_at > before[0][0].last_at:
                    last[node] = [(count, word)]
                elif count.last_at == before[0][0].last_at:
                    last[node].append((count, word))
    for (*_, slot), written in last.items():
        own = Slot(slot.logger, f"{slot.text} (a node's last)", hidden=True, last=True)
        for count, word in written:
            yield replace(count, count=1), own, word


def words(count: Count) -> Iterator[tuple[Slot, Word]]:
    """Yield the slots of what was logged, and what stood in them."""
    if not count.family:
        yield from _item(count)
        return
    text = count.wording if len(_LETTER.findall(count.wording)) >= MIN_LETTERS else ""
    yield from ((Slot(count.logger, slot), word) for slot, word in _gaps(text, count.values))
    name = (text or _KEY_VALUE.sub(r"\1=…", count.family)).replace("{}", "…")
    for key, word in _KEY_VALUE.findall(_keyed(text, count.template)):
        yield Slot(count.logger, f"{name}: {key}={{}}", hidden=True), word
    for whose in WHOSE.findall(" ".join(insides(count.template)) if text else ""):
        yield Slot(count.logger, f"{name}: address {{}}", hidden=True), whose
    for thrown in _THROWN.findall(count.template.partition("\n")[2]):
        yield Slot(count.logger, f"{name.partition(chr(10))[0]}: {{}}"), thrown


def _keyed(text: str, template: str) -> str:
    """Return where keys are looked for: in brackets alone if what stands outside of them is known to be gaps."""
    return " ".join(insides(template)) if text else template


def _item(count: Count) -> Iterator[tuple[Slot, Word]]:
    key, _, masked = count.template.partition(" = ")
    exact = count.excerpt.partition(" = ")[2].strip()
    is_number = _NUMBERS.fullmatch(masked) and not _OWN.search(key)
    yield Slot(count.logger, f"{key} = {{}}"), exact if is_number else masked


def _gaps(wording: str, values: tuple[str, ...]) -> Iterator[tuple[str, Word]]:
    parts = wording.split("{}")
    if len(parts) != len(values) + 1:
        return
    for at, value in enumerate(values):
        word = family(unordered(value.strip().partition("\n")[0]))
        if len(word) <= MAX_WORD and _LETTER.search(_MASK.sub("", word)):
            yield "…".join(parts[: at + 1]) + "{}" + "…".join(parts[at + 1 :]), word
