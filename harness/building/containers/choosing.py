"""The engine and the image that containers build with, as this host has them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from harness.building.containers.gradle import Workshop, open_workshop
from harness.containers.engine import reach_engine, sweep
from harness.containers.images import image_to_build_in, no_image


def workshop(on_line: Callable[[str], None], held: ExitStack) -> Workshop:
    """Return a workshop, its engine held. Raises HarnessError when engine or image is not there."""
    engine = held.enter_context(reach_engine())
    for container in sweep(engine):
        on_line(f"removed the container {container}, which a harness that was killed had left")
    image = image_to_build_in(engine)
    if image is None:
        raise no_image()
    return open_workshop(engine, image, on_line)
