"""Where noise is kept that was learned: shipped for each release line, and grown by this user's own runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.base.locks import owned
from harness.base.paths import data_root, is_checkout, user_data_root
from harness.kafka.release_lines import line_of
from harness.logs.noise_book import LearnedRuns, chosen, merged, record_of_runs, runs_of_record
from harness.model.stock_noise import StockNoise, StockRun
from harness.rundir.parts import noise_file

_FOLDER = "noise"


def shipped_noise(line: str) -> Path:
    """Return where the noise of a release line is shipped; not every line has a file."""
    return data_root() / "builds" / _FOLDER / f"{line}.json.gz"


def own_noise(line: str) -> Path:
    """Return where this user's own runs of a release line are added to what is shipped."""
    return user_data_root() / _FOLDER / f"{line}.json.gz"


def noise_for_writing(line: str) -> Path:
    """Return where noise goes that is learned on request: a checkout's own file, else the user's."""
    return shipped_noise(line) if is_checkout() else own_noise(line)


def known_noise(version: str, fits: Callable[[StockRun], bool] = lambda _run: True) -> StockNoise:
    """Return what is known of a version's release line, of runs that fit. Raises HarnessError for a damaged file."""
    line = line_of(version).name
    books = (learned_runs(path) for path in (shipped_noise(line), own_noise(line)))
    return record_of_runs(line, chosen(merged(books), fits))


def learned_runs(path: Path) -> LearnedRuns:
    """Return the runs of a file, none where it is not there. Raises HarnessError for a damaged file."""
    record = noise_file(path).read_if_exists()
    return runs_of_record(record) if record else {}


def add_runs(path: Path, line: str, found: LearnedRuns) -> int:
    """Add runs to a file and return how many it holds now. Raises HarnessError where it is in use, or is damaged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with owned(path.parent):
        book = merged([learned_runs(path), found])
        noise_file(path).write(record_of_runs(line, book))
    return len(book)
