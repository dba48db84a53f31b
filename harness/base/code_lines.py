"""Where in somebody's code something happened, for messages about scenarios and plugins of their own."""

from __future__ import annotations

import sysconfig
import traceback
from types import FrameType

_LIBRARY = sysconfig.get_path("stdlib")


def line_at(at: FrameType | BaseException | None) -> str:
    """Return the innermost line, outside of Python's own library, that a frame is in or an error came from.

    Empty where nothing is known.
    """
    stack = traceback.extract_tb(at.__traceback__) if isinstance(at, BaseException) else traceback.extract_stack(at)
    lines = [each for each in stack if not each.filename.startswith(_LIBRARY)]
    return f"{lines[-1].filename}, line {lines[-1].lineno}" if lines else ""
