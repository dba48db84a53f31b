"""The proof of the jar as the report shows it: differences, tests, the audit, and the lines that ran; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.text import cut
from harness.model.proof import AuditAnswer, ClaimedTest, Coverage, Difference, FailedTest, TestClass
from harness.model.simulation import FailedSeed, Simulation
from harness.model.verdict import ClaimStatus, JudgedClaim, VerdictRecord
from harness.proof.proof_summary import (
    describe_answers,
    describe_differences,
    describe_reach,
    describe_simulation,
    describe_tests,
    headline,
)
from harness.report.figures import describe
from harness.report.limits import kept
from harness.report.links import HERE, Link, Quote, evidence_link, link_to, quote_of


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """A difference with its texts cut to size; `weight` is its severity, or `waived`."""

    rule: str
    weight: str
    where: str
    detail: str
    base: str
    candidate: str
    waived: str


@dataclass(frozen=True, slots=True)
class FailureView:
    """A failed test; `whose` says whether it is the candidate's doing, and why it does not count if it does not."""

    name: str
    message: str
    trace: str
    whose: str


@dataclass(frozen=True, slots=True)
class SeedView:
    """A seed with which a simulation fails; `replay` is the command that runs it again."""

    name: str
    message: str
    trace: str
    whose: str
    log: Link | None
    replay: str


@dataclass(frozen=True, slots=True)
class SimulationView:
    """What simulations showed; `properties` are names with how many seeds failed on the candidate and on base."""

    summary: str
    gap: str
    properties: tuple[tuple[str, str, str], ...]
    seeds: tuple[SeedView, ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """A question of the audit; `standing` as in AuditAnswer."""

    question: str
    standing: str
    detail: str
    claim: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim with everything that it rests on; `expected` and `limits` are sentences, empty where it has none."""

    id: str
    text: str
    source: str
    scenario: str
    status: str
    why: str
    expected: str
    answers: tuple[AnswerView, ...]
    tests: tuple[ClaimedTest, ...]
    expected_log: str
    logged: Quote | None
    logged_off: Quote | None
    limits: str


@dataclass(frozen=True, slots=True)
class ProofView:
    """Everything that was proved of the jar; `figures` are by name."""

    headline: str
    sound: bool
    figures: tuple[tuple[str, str], ...]
    differences: tuple[DifferenceView, ...]
    hidden: int
    rules: str
    failures: tuple[FailureView, ...]
    hidden_failures: int
    classes: tuple[TestClass, ...]
    junit: Link | None
    answers: tuple[AnswerView, ...]
    notes: tuple[str, ...]
    evidence: Link
    kafka: str
    simulation: SimulationView | None


@dataclass(frozen=True, slots=True)
class LineView:
    """A changed line and where it ran; `ran` is empty for one that no scenario reached."""

    place: str
    text: str
    ran: str
    link: Link | None


@dataclass(frozen=True, slots=True)
class ReachView:
    """Which changed methods and lines ran; those that did not come first. Methods are pairs with their scenarios."""

    summary: str
    gap: str
    methods: tuple[tuple[str, str], ...]
    hidden_methods: int
    unreached: tuple[LineView, ...]
    reached: tuple[LineView, ...]
    hidden: int


def claim_views(record: VerdictRecord, text: int, most: int) -> tuple[ClaimView, ...]:
    """Return so many claims, those first that are not held, in the order of the verdict."""
    shown = kept(record.claims, most, lambda claim: claim.status is not ClaimStatus.HELD)
    return tuple(_claim(record, claim, text) for claim in shown)


def _claim(record: VerdictRecord, claim: JudgedClaim, text: int) -> ClaimView:
    audit = record.proof.audit if record.proof else ()
    chains = [chain for chain in record.proof.chains if chain.claim == claim.id] if record.proof else []
    return ClaimView(
        claim.id,
        cut(claim.text, text),
        cut(claim.source, text),
        claim.scenario,
        claim.status.value,
        cut(claim.why, text),
        ", ".join(f"{role} {expected}" for role, expected in claim.expected.items()),
        tuple(_answer(answer, text) for answer in audit if answer.claim == claim.id),
        chains[0].tests if chains else (),
        cut(claim.expected_log, text),
        quote_of(claim.logged, text) if claim.logged else None,
        quote_of(claim.logged_off, text) if claim.logged_off else None,
        ", ".join(f"{describe(figure)} {most:g} at most" for figure, most in claim.limits.items()),
    )


def proof_view(record: VerdictRecord, most: int, text: int) -> ProofView | None:
    """Return what the report shows of the proof; None when the jar was not proved."""
    proof = record.proof
    if proof is None:
        return None
    return ProofView(
        headline(proof),
        not proof.blockers,
        (
            ("Differences", describe_differences(proof)),
            ("Tests", describe_tests(proof.tests)),
            *([("Simulation", describe_simulation(proof.simulation))] if proof.simulation else []),
            ("Source", describe_answers(proof.audit)),
        ),
        tuple(_difference(each, text) for each in proof.differences[:most]),
        max(len(proof.differences) - most, 0),
        ", ".join(proof.looked_at),
        tuple(_failure(each, text) for each in proof.tests.failed[:most]),
        max(len(proof.tests.failed) - most, 0),
        proof.tests.classes,
        link_to(proof.tests.report, "JUnit XML") if proof.tests.report else None,
        tuple(_answer(each, text) for each in proof.audit),
        tuple(cut(note, text) for note in filter(None, (*proof.notes, proof.tests.gap, proof.tests.missing))),
        link_to(HERE.proof(proof.build).proof.path, "proof.json"),
        cut(proof.kafka, text),
        _simulation(proof.simulation, text) if proof.simulation else None,
    )


def waived_view(record: VerdictRecord, text: int) -> tuple[DifferenceView, ...]:
    """Return the differences that somebody has accepted."""
    differences = record.proof.differences if record.proof else ()
    return tuple(_difference(each, text) for each in differences if each.waived)


def reach_view(record: VerdictRecord, most: int, text: int) -> ReachView | None:
    """Return what the report shows of the changed lines; None when no run measured them."""
    coverage = record.coverage
    if coverage is None:
        return None
    build = record.proof.build if record.proof else ""
    unreached = [_line(build, each.path, each.line, each.text, (), text) for each in coverage.unreached]
    reached = [_line(build, e.path, e.line, e.text, e.scenarios, text) for e in coverage.lines if e.scenarios]
    hidden = max(len(coverage.lines) - most, 0)
    methods = sorted(coverage.methods, key=lambda method: bool(method.scenarios))
    return ReachView(
        _reach_summary(coverage),
        cut(coverage.gap, text),
        tuple((cut(method.label, text), ", ".join(method.scenarios)) for method in methods[:most]),
        max(len(methods) - most, 0),
        tuple(unreached[:most]),
        tuple(reached[: max(most - len(unreached), 0)]),
        hidden,
    )


def _reach_summary(coverage: Coverage) -> str:
    return f"{describe_reach(coverage)}." if coverage.lines else "It is not known which changed lines were reached."


def _difference(each: Difference, text: int) -> DifferenceView:
    weight = "waived" if each.waived else each.severity.value
    parts = (each.where, each.detail, each.base, each.candidate, each.waived)
    return DifferenceView(each.rule, weight, *(cut(part, text) for part in parts))


def _failure(each: FailedTest, text: int) -> FailureView:
    on_base = {True: "base fails it too", False: "base passes it", None: "it cannot run on base"}[each.fails_on_base]
    whose = f"{on_base}; {each.excuse}" if each.excuse else on_base
    return FailureView(
        cut(f"{each.class_name}.{each.name}", text), cut(each.message, text), cut(each.trace, text), cut(whose, text)
    )


def _simulation(found: Simulation, text: int) -> SimulationView:
    properties = tuple(
        (
            each.name.rpartition(".")[2],
            f"{each.failed} of {each.seeds}",
            f"{each.base_failed} of {each.base_seeds}",
        )
        for each in found.properties
    )
    gaps = " ".join(filter(None, (found.gap, found.left_out)))
    seeds = tuple(_seed(each, text) for each in found.failed)
    return SimulationView(f"{describe_simulation(found)}.", cut(gaps, text), properties, seeds)


def _seed(each: FailedSeed, text: int) -> SeedView:
    on_base = {True: "base fails it too", False: "base passes it", None: "base gave no answer"}[each.fails_on_base]
    return SeedView(
        cut(f"{each.label} with seed {each.seed} {each.arguments}", text),
        cut(each.message, text),
        cut(each.trace, text),
        on_base if each.fails_again else f"{on_base}; it passed when it was replayed",
        link_to(each.log, "the end of its log") if each.log else None,
        f"harness simulate RUN_DIR --property {each.label} --seed {each.seed}",
    )


def _answer(each: AuditAnswer, text: int) -> AnswerView:
    links = tuple(evidence_link(evidence) for evidence in each.evidence)
    return AnswerView(each.question, each.standing, cut(each.detail, text), each.claim, links)


def _line(build: str, path: str, line: int, text: str, scenarios: Sequence[str], limit: int) -> LineView:
    place = f"{path.rsplit('/', 1)[-1]}:{line}"
    link = link_to(HERE.build(build).sources / path, place) if build and text else None
    return LineView(place, cut(text.strip(), limit), ", ".join(scenarios), link)
