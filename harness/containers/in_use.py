"""A mark that this process has containers: it outlives a kill, as they do, and whatever command is next takes it up.

Nothing here loads the engine's library, which takes half a second: every command looks for marks that were left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.locks import scratch
from harness.base.paths import cache_root

FOLDER = "containers-in-use"  # below the cache


@contextmanager
def in_use() -> Iterator[None]:
    """Leave a mark for as long as there are containers of this process."""
    with scratch(cache_root() / FOLDER):
        yield


def sweep_what_was_left(swept: Iterable[Path]) -> list[str]:
    """Remove the containers of harnesses that were killed, where their marks are among scratch folders that were swept.

    Returns the containers' short ids. An engine that does not answer is swept when containers are next started.
    """
    if not any(folder.parent.name == FOLDER for folder in swept):
        return []
    from harness.containers.engine import ENGINE_ERRORS, reach_engine, sweep

    with suppress(HarnessError, *ENGINE_ERRORS), reach_engine() as engine:
        return sweep(engine)
    return []
