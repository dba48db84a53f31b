"""All questions of a claims file, answered from the best there is: sources, else bytecode, else not at all."""

from __future__ import annotations

from pathlib import Path

from harness.audit.claims_file import ClaimSet
from harness.audit.graph import graph_of
from harness.audit.jar_answers import JarContent, answer_from_jar
from harness.audit.java_sources import read_sources
from harness.audit.replies import answered, untested
from harness.audit.source_answers import answer
from harness.model.proof import AuditAnswer


def audit(claims: ClaimSet, sources: Path | None, jar: JarContent | None = None) -> tuple[AuditAnswer, ...]:
    """Answer the questions, in the order of the file.

    `sources` is the top folder of a Kafka checkout with the candidate's sources, `jar` what was read of its jar. Raises
    HarnessError when the sources lack the module that the claims are about.
    """
    if not claims.questions:
        return ()
    if sources is not None:
        graph = graph_of(read_sources(sources, claims.jar.removeprefix("kafka-")))
        return tuple(answer(question, graph) for question in claims.questions)
    if jar is not None:
        return tuple(answer_from_jar(question, jar) for question in claims.questions)
    return tuple(answered(question, untested("There are no sources.")) for question in claims.questions)
