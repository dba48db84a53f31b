"""Claims: what a patch says of itself, and what each must show for it (`claims.toml`).

A claim is checked in the source (`queries`), by unit tests, and on live clusters (a scenario, with what every role of
an arm must show there and the log line that goes with it).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.audit.question_tables import parse_questions
from harness.audit.questions import LEVELS, Question
from harness.base.errors import HarnessError
from harness.base.toml import document_of, name, no_twins, only_keys, tables, text, texts
from harness.model.arms import Role
from harness.model.claims import Claim, Expected
from harness.model.outcome_names import now_called
from harness.model.proof import EXPECTED_LEVEL
from harness.model.runs import Outcome

_MOST_BYTES = 2**20
_JARS = ("kafka-raft",)
_EXPECTED = re.compile(r"PASSED|FAILED\(([a-z][a-z0-9_]*)\)")
_FIGURE = re.compile(r"[a-z][a-z0-9_]*")
_TEST = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*#[A-Za-z_$][\w$]*")
_CLASS = re.compile(r"[a-z]\w*(\.[a-z]\w*)*\.[A-Z]\w*")
_FILE_KEYS = ("flag", "flag_default", "question", "classes", "test_changed")
_CLAIM_KEYS = ("id", "says", "source")
_PROOF_KEYS = ("scenario", "expect", "evidence", "level", "limits", "queries", "tests")


@dataclass(frozen=True, slots=True)
class Chain:
    """From a claim to its evidence: what checks it, at every stage.

    `queries` are ids of questions to the source, `tests` JUnit methods (`Class#method`, of upstream or of the
    series), `evidence` is a regular expression that some line of a log on the `on` arm matches in `scenario`, and
    `level` the worst level at which the claim expects it. What a claim does not use is empty; it has at least one of
    queries, tests and scenario.
    """

    claim: str
    says: str
    source: str
    queries: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    scenario: str = ""
    evidence: str = ""
    level: str = EXPECTED_LEVEL


@dataclass(frozen=True, slots=True)
class ClaimSet:
    """The claims of a candidate, and the flag that turns it off.

    `flag` is the configuration key, empty when there is none; `flag_default` is `true`, `false` or empty.
    `jar` names the module that the claims are about. `claims` are those that a scenario judges, `chains` all of them;
    `questions` are those put to the source, promised by a claim or not. `classes` are the top-level classes, with
    dots, that the candidate changes, empty where the file does not say; `tests_changed` gives by `Class#method` why a
    test of upstream's no longer passes, by design.
    """

    jar: str
    flag: str
    flag_default: str
    claims: tuple[Claim, ...]
    chains: tuple[Chain, ...] = ()
    questions: tuple[Question, ...] = ()
    classes: tuple[str, ...] = ()
    tests_changed: Mapping[str, str] = field(default_factory=dict)


def load_claims(path: Path) -> ClaimSet:
    """Read a claims file. Raises HarnessError that names the file, the key, and what is allowed there."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise HarnessError(
            f"The claims file {path} cannot be read: {error.strerror}.",
            "Name another by --claims; a verification takes `--claims none` as well, to judge without any.",
        ) from error
    if len(content) > _MOST_BYTES:
        raise HarnessError(
            f"The claims file {path} has more than {_MOST_BYTES // 2**20} MiB.", "Name another by --claims."
        )
    return parse_claims(content, str(path))


def parse_claims(content: bytes, where: str) -> ClaimSet:
    """Return the claims that a file's bytes hold; `where` names the file in errors, which are HarnessErrors."""
    try:
        return _claim_set(document_of(content))
    except ValueError as error:
        raise HarnessError(f"{where}: {error}.", "docs/builders.md describes the file.") from error


def parse_nobodys_questions(content: bytes, where: str) -> ClaimSet:
    """Return what a file asks that claims nothing: of a release as it is. Raises HarnessError as parse_claims does."""
    try:
        document = document_of(content)
        only_keys(document, "the file", needed=("jar", "question"))
        return ClaimSet(_jar(document), "", "", (), questions=parse_questions(document, {}))
    except ValueError as error:
        raise HarnessError(f"{where}: {error}.", "docs/audit.md describes the questions.") from error


def outcomes_only(claims: ClaimSet) -> ClaimSet:
    """Return what the claims say of scenarios; their questions are still asked, and nobody promises the answers.

    So a jar is judged that does by other means what a series does.
    """
    chains = (replace(chain, queries=(), tests=()) for chain in claims.chains if chain.scenario)
    questions = (replace(question, claim="") for question in claims.questions)
    return replace(claims, chains=tuple(chains), questions=tuple(questions))


def parse_expected(text: str) -> Expected:
    """Return what `PASSED` or `FAILED(name)` means. Raises ValueError for anything else."""
    found = _EXPECTED.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is neither PASSED nor FAILED(name_of_the_expectation){now_called(text)}")
    refuted = found.group(1) or ""
    return Expected(Outcome.FAILED, refuted) if refuted else Expected(Outcome.PASSED)


def _claim_set(document: Mapping[str, Any]) -> ClaimSet:
    only_keys(document, "the file", needed=("jar", "claim"), allowed=_FILE_KEYS)
    jar = _jar(document)
    flag, default = _flag(document)
    claims = [(table, f"claim {number}") for number, table in enumerate(tables(document, "claim"), 1)]
    if not claims:
        raise ValueError("claim: there is none; write each as a [[claim]] table, or judge with `--claims none`")
    chains = tuple(_chain(table, where) for table, where in claims)
    no_twins([chain.claim for chain in chains], "claim id")
    judged = tuple(_claim(table, where, flag) for table, where in claims if "scenario" in table)
    return ClaimSet(
        jar=jar,
        flag=flag,
        flag_default=default,
        claims=judged,
        chains=chains,
        questions=_questions(document, chains),
        classes=_classes(document),
        tests_changed=_tests_changed(document),
    )


def _jar(document: Mapping[str, Any]) -> str:
    jar = text(document, "jar", "")
    if jar not in _JARS:
        raise ValueError(f"jar: {jar!r} is not a module that can be judged; it is one of {', '.join(_JARS)}")
    return jar


def _flag(document: Mapping[str, Any]) -> tuple[str, str]:
    if "flag" not in document and "flag_default" not in document:
        return "", ""
    default = document.get("flag_default")
    if "flag" not in document or not isinstance(default, bool):
        raise ValueError("flag_default: it goes with `flag` and is true or false")
    return text(document, "flag", ""), "true" if default else "false"


def _classes(document: Mapping[str, Any]) -> tuple[str, ...]:
    found = texts(document, "classes", "the file")
    for each in found:
        if not _CLASS.fullmatch(each):
            raise ValueError(f"classes: {each!r} is no top-level class with its package, such as a.b.QuorumConfig")
    no_twins(list(found), "the class")
    return found


def _tests_changed(document: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the reasons, by test, of tests that fail by design."""
    changed = [(table, f"test_changed {number}") for number, table in enumerate(tables(document, "test_changed"), 1)]
    for table, where in changed:
        only_keys(table, where, needed=("test", "reason"))
    named = [(_test(text(table, "test", where), f"{where}, test"), table, where) for table, where in changed]
    no_twins([test for test, _, _ in named], "the changed test")
    return {test: text(table, "reason", where) for test, table, where in named}


def _chain(table: Mapping[str, Any], where: str) -> Chain:
    only_keys(table, where, needed=_CLAIM_KEYS, allowed=_PROOF_KEYS)
    if not {"scenario", "queries", "tests"} & set(table):
        raise ValueError(f"{where} lacks scenario, queries or tests: nothing could show that it is true")
    if "scenario" not in table and {"expect", "evidence", "limits"} & set(table):
        raise ValueError(f"{where}: expect, evidence and limits go with a scenario")
    if "level" in table and "evidence" not in table:
        raise ValueError(f"{where}: level goes with evidence")
    return Chain(
        claim=name(table, "id", where),
        says=text(table, "says", where),
        source=text(table, "source", where),
        queries=texts(table, "queries", where),
        tests=_tests(table, where),
        scenario=name(table, "scenario", where) if "scenario" in table else "",
        evidence=_pattern(table, where) if "evidence" in table else "",
        level=_level(table, where) if "level" in table else EXPECTED_LEVEL,
    )


def _tests(table: Mapping[str, Any], where: str) -> tuple[str, ...]:
    return tuple(_test(each, f"{where}, tests") for each in texts(table, "tests", where))


def _test(written: str, where: str) -> str:
    if not _TEST.fullmatch(written):
        raise ValueError(f"{where}: {written!r} is not Class#method")
    return written


def _level(table: Mapping[str, Any], where: str) -> str:
    level = text(table, "level", where)
    if level not in LEVELS:
        raise ValueError(f"{where}, level: {level!r} is not one of {', '.join(LEVELS)}")
    return level


def _pattern(table: Mapping[str, Any], where: str) -> str:
    pattern = text(table, "evidence", where)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{where}, evidence: {pattern!r} is no regular expression: {error}") from error
    return pattern


def _claim(table: Mapping[str, Any], where: str, flag: str) -> Claim:
    only_keys(table, where, needed=(*_CLAIM_KEYS, "scenario", "expect"), allowed=_PROOF_KEYS)
    return Claim(
        id=table["id"],
        text=table["says"],
        scenario=table["scenario"],
        expected=_expected(table["expect"], f"{where}, expect", flag),
        source=table["source"],
        limits=_limits(table.get("limits", {}), f"{where}, limits"),
    )


def _limits(table: Any, where: str) -> dict[str, float]:
    """Return the most that figures of a run may be, by their names in result.json."""
    if not isinstance(table, dict) or not table.keys() <= set(filter(_FIGURE.fullmatch, table)):
        raise ValueError(f"{where}: write limits = {{ observer_recovers_seconds = 3 }}, with figures of a run by name")
    for figure, most in table.items():
        if type(most) not in (int, float) or not 0 <= most < float("inf"):
            raise ValueError(f"{where}.{figure}: {most!r} is no number that can be the most")
    return {figure: float(most) for figure, most in table.items()}


def _expected(table: Any, where: str, flag: str) -> dict[Role, Expected]:
    if not isinstance(table, dict):
        raise ValueError(f"{where}: write it as a [claim.expect] table")  # noqa: TRY004
    # A claim needs its control: a candidate that holds proves nothing unless base is said to do something.
    only_keys(table, where, needed=("base", "on"), allowed=("off",) if flag else ())
    expected = {}
    for role in Role:
        if role in table:
            written = text(table, role, where)
            try:
                expected[role] = parse_expected(written)
            except ValueError as error:
                raise ValueError(f"{where}.{role}: {error}") from error
    return expected


def _questions(document: Mapping[str, Any], chains: tuple[Chain, ...]) -> tuple[Question, ...]:
    """Return the questions, each with the claim that promises it."""
    promised = [query for chain in chains for query in chain.queries]
    no_twins(promised, "the question")
    by = {query: chain.claim for chain in chains for query in chain.queries}
    questions = parse_questions(document, by)
    unknown = [query for query in promised if query not in {question.id for question in questions}]
    if unknown:
        raise ValueError(f"claim {by[unknown[0]]}, queries: there is no question {unknown[0]}")
    return questions
