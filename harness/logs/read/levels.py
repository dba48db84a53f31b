"""The levels of log4j, mildest first."""

from __future__ import annotations

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
