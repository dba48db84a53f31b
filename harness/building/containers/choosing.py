"""Which Gradle builds, if any: as the user said, or as this host allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.base.errors import HarnessError
from harness.building.builders import GRADLE_CONTAINER, GRADLE_FULL, Builder
from harness.building.containers.engine import may_answer, reach_engine, sweep
from harness.building.containers.gradle import GradleFull, GradleModule, Workshop, open_workshop
from harness.building.containers.images import image_to_build_in, no_image


@contextmanager
def gradle_builder(name: str, cache: Path, *, offline: bool, hear: Callable[[str], None]) -> Iterator[Builder | None]:
    """Give the builder called `name` while its engine is held; None where it is a compiler of this host.

    What Gradle reads and writes between builds is kept below `cache`.
    `auto` is Gradle in a container where engine and image are there. Raises HarnessError for a named builder that
    this host, or `offline`, does not allow.
    """
    with ExitStack() as held:
        yield _chosen(name, cache, offline, hear, held)


def _chosen(name: str, cache: Path, offline: bool, hear: Callable[[str], None], held: ExitStack) -> Builder | None:
    if name == "auto":
        return GradleModule(shop, cache / "maven") if (shop := _at_hand(hear, held)) else None
    if name == GRADLE_CONTAINER:
        return GradleModule(_workshop(hear, held), cache / "maven")
    if name == GRADLE_FULL:
        if offline:
            raise HarnessError(
                f"--builder {GRADLE_FULL} fetches Gradle and Kafka's dependencies, which --offline forbids.",
                f"Use --builder {GRADLE_CONTAINER}, which needs no network.",
            )
        return GradleFull(_workshop(hear, held), cache / "gradle-home")
    return None


def _at_hand(hear: Callable[[str], None], held: ExitStack) -> Workshop | None:
    """Return a workshop if there is one; one that is broken is told of, and a compiler of the host serves."""
    if not may_answer():
        return None
    try:
        return _workshop(hear, held)
    except HarnessError as error:
        hear(f"not built in a container: {error.message}")
        return None


def _workshop(hear: Callable[[str], None], held: ExitStack) -> Workshop:
    engine = held.enter_context(reach_engine())
    for container in sweep(engine):
        hear(f"removed the container {container}, which a harness that was killed had left")
    image = image_to_build_in(engine)
    if image is None:
        raise no_image()
    return open_workshop(engine, image, hear)
