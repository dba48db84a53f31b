"""The source audit as a stage of its own: where the code that is read comes from."""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness.audit.answering import audit
from harness.audit.claims_file import ClaimSet
from harness.audit.jar_answers import JarContent
from harness.audit.stock_questions import stock_questions
from harness.building.builders.ecj import ecj_of
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import Series, apply_series, load_series
from harness.kafka.tree import SourceTree
from harness.model.proof import AuditAnswer
from harness.proof.bytecode import prepare_bytecode, read_classes, read_statements
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox


def audit_series(claims: ClaimSet, folder: Path, downloads: Downloads) -> tuple[AuditAnswer, ...]:
    """Answer from the released sources with a series applied. Raises HarnessError for one that does not fit."""
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as scratch:
        return audit(claims, patched_release(load_series(folder), downloads, Path(scratch) / "tree").path)


def audit_release(version: str, downloads: Downloads) -> tuple[AuditAnswer, ...]:
    """Answer from the sources of a version as they were released; nothing where nothing is asked of them."""
    questions = stock_questions(version)
    if questions is None:
        return ()
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as scratch:
        return audit(questions, _released(version, downloads).checkout(Path(scratch) / "tree").path)


def audit_jar(claims: ClaimSet, jar: Path, toolbox: Toolbox) -> tuple[AuditAnswer, ...]:
    """Answer from the bytecode of a jar, as far as that goes. Raises HarnessError for what is no jar."""
    tools = prepare_bytecode(ecj_of(toolbox), toolbox)
    (statements,) = read_statements(tools, [jar])
    return audit(claims, None, JarContent(read_classes(tools, jar), statements))


def patched_release(series: Series, downloads: Downloads, into: Path) -> SourceTree:
    """Lay out the released sources of the version that a series was made for, and apply it."""
    return apply_series(_released(series.version, downloads).checkout(into), series)


def _released(version: str, downloads: Downloads) -> MavenSources:
    return MavenSources(version, downloads.fetch(read_lock(version).one(Purpose.SOURCES)))
