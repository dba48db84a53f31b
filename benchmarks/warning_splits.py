"""Would what base's jar warns of by chance hold a candidate back? Splits of the runs that noise was learned from.

    python benchmarks/warning_splits.py 3.9 [--splits 300]

As noise_splits.py with one run of each arm, but of warnings and errors alone, line by line as
harness.logs.compare.stock judges them: a minute for each hundred splits. Every HOLD is a false one.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from harness.logs.compare.observed_run import ObservedRun
from harness.logs.compare.stock import Stock
from harness.logs.compare.stock_runs import StockRuns
from harness.logs.compare.tables import Key, Place
from harness.logs.noise_book import runs_of_record
from harness.logs.noise_store import shipped_noise
from harness.model.findings import WORSE, Significance
from harness.model.runs import Outcome
from harness.rundir.parts import noise_file

SEED = 20261130


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("line")
    parser.add_argument("--splits", type=int, default=300)
    asked = parser.parse_args()
    runs, chance = decided(asked.line), random.Random(SEED)
    held: Counter[str] = Counter()
    splits = [set(worse(runs, chance)) for _ in range(asked.splits)]
    for found in splits:
        held.update(found)
    print(f"{sum(map(bool, splits))} of {asked.splits} splits held back")
    for what, many in held.most_common():
        print(f"{many} times: {what}")


def decided(line: str) -> Mapping[str, Sequence[ObservedRun]]:
    """Return the decided runs that a release line's noise was learned from, by scenario."""
    runs: dict[str, list[ObservedRun]] = defaultdict(list)
    for stock, observed in runs_of_record(noise_file(shipped_noise(line)).read()).items():
        if stock.outcome.startswith((Outcome.PASSED, Outcome.FAILED)):
            runs[observed.scenario].append(observed)
    return runs


def worse(runs: Mapping[str, Sequence[ObservedRun]], chance: random.Random) -> Iterator[str]:
    """Yield what one run of each scenario warns of beyond the noise of all others, another beside it."""
    dealt = [chance.sample(each, len(each)) for each in runs.values()]
    base, candidate = [each[0] for each in dealt], [each[1] for each in dealt]
    stock = Stock(StockRuns([run for each in dealt for run in each[2:]], base), candidate)
    for beside, run in zip(base, candidate, strict=True):
        for line, number in run.counts.items():
            if line.level in WORSE and not line.word:
                judge = stock.rate if line in beside.counts else stock.new
                found = judge(Place(run.scenario, line.node_role), Key(line.logger, line.text, line.level))
                if found and found.significance is Significance.BEYOND and number > beside.counts.get(line, 0):
                    yield f"{run.scenario}, {line.node_role}: {line.level} {line.text[:120]}"


if __name__ == "__main__":
    main()
