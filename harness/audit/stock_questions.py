"""What is asked of Kafka as it was released (`builds/questions/<line>.toml`), before any patch is."""

from __future__ import annotations

from harness.audit.claims_file import ClaimSet, parse_nobodys_questions
from harness.base.paths import data_root
from harness.kafka.release_lines import line_of


def stock_questions(version: str) -> ClaimSet | None:
    """Return the questions to the released source of a version; None for a release line that was not read yet."""
    path = data_root() / "builds" / "questions" / f"{line_of(version).name}.toml"
    return parse_nobodys_questions(path.read_bytes(), str(path)) if path.is_file() else None
