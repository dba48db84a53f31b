"""The manifest of a jar."""

from __future__ import annotations

import re

MANIFEST = "META-INF/MANIFEST.MF"


def parse_manifest(content: bytes) -> dict[str, str]:
    """Return the attributes of a manifest's main section by lower-case name; what is no attribute is left out."""
    text = re.sub(r"\r\n?", "\n", content.decode("utf-8", "replace")).split("\n\n", 1)[0]
    lines = text.replace("\n ", "").split("\n")
    pairs = (line.split(": ", 1) for line in lines if ": " in line)
    return {name.lower(): value.strip() for name, value in pairs}
