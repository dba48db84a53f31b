"""From what was asked, shown and found to verdict.json, checked against its schema on writing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonschema

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.json import to_json
from harness.base.paths import data_root
from harness.judge.checks import check_run, expected_of
from harness.judge.decision import JudgedScenario, Judgement, decide
from harness.model.arms import Arm
from harness.model.claims import Claim
from harness.model.declaration import Declaration
from harness.model.findings import Contrast, Finding
from harness.model.options import record_of
from harness.model.proof import Coverage, Proof
from harness.model.request import Request
from harness.model.runs import Evidence, RunResult
from harness.report.document import (
    SCHEMA,
    ArmDoc,
    CellDoc,
    ClaimDoc,
    ContrastDoc,
    Document,
    FindingDoc,
    RunDoc,
    ScenarioDoc,
)
from harness.report.foretold import foretold_lines
from harness.report.inventory import FileDigest, take_inventory
from harness.report.rerun import rerun_command
from harness.rundir.directory import RunDirectory


def judge_run(run_dir: Path) -> dict[str, Any]:
    """Judge what lies in a run directory, write verdict.json and return its content.

    Reads run.json, every declared run's result.json and logs/findings.json (which may be missing: a
    log diff that failed does not cost the verdict). A missing or unreadable run.json is a HarnessError.
    """
    directory = RunDirectory(run_dir)
    asked = directory.declaration.read()
    contrasts = directory.logs.findings.read_if_exists() or ()
    proof, coverage = read_proof(directory, asked)
    results = [result for result in directory.results() if asked.declares(result)]
    evidence = take_inventory(directory, [result.key for result in results])
    logged = foretold_lines(directory, results, proof.chains if proof else ())
    request = _request(directory, asked)
    verdict = build_verdict(asked, results, contrasts, proof, coverage, evidence, logged, request)
    write_verdict(run_dir, verdict)
    return verdict


def _request(directory: RunDirectory, asked: Declaration) -> Request:
    """Return what was asked for, by request.json; a folder without one has it in the command that was given."""
    return directory.request.read_if_exists() or record_of(Request, asked.argv)


def read_proof(directory: RunDirectory, declaration: Declaration) -> tuple[Proof | None, Coverage | None]:
    """Return what was proved of the candidate and which changed lines its runs reached; None for what was not.

    A proof of another jar than the one that was declared is a HarnessError.
    """
    folder = directory.proof(declaration.candidate)
    proof = folder.proof.read_if_exists()
    digests = {arm.build.jar_sha256 for arm in declaration.arms if arm.build.name == declaration.candidate}
    if proof and proof.candidate not in digests:
        raise HarnessError(
            f"{folder.proof.path} is about another jar ({proof.candidate}).", "Run `harness prove` again."
        )
    return proof, folder.coverage.read_if_exists()


def write_verdict(run_dir: Path, verdict: Mapping[str, Any]) -> Path:
    """Check `verdict` against its schema and write verdict.json; HarnessError names the field that is wrong."""
    schema = json.loads((data_root() / "reports/schema/verdict.schema.json").read_text("utf-8"))
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(verdict))
    if error is not None:
        raise HarnessError(f"verdict.json would not match its schema at {error.json_path}: {error.message[:200]}.")
    return write_text(RunDirectory(run_dir).verdict, json.dumps(verdict, ensure_ascii=False, indent=1) + "\n")


def read_verdict(run_dir: Path) -> dict[str, Any]:
    """Return the content of verdict.json; HarnessError when the run has not been judged."""
    path = RunDirectory(run_dir).verdict
    if not path.is_file():
        raise HarnessError(f"{run_dir} has no verdict.json.", f"Judge it first: harness judge {run_dir}")
    verdict: dict[str, Any] = json.loads(path.read_bytes())
    return verdict


def build_verdict(
    asked: Declaration,
    results: Sequence[RunResult],
    contrasts: Sequence[Contrast],
    proof: Proof | None,
    coverage: Coverage | None = None,
    evidence: Sequence[FileDigest] = (),
    logged: Mapping[str, Evidence] = MappingProxyType({}),
    request: Request | None = None,
) -> dict[str, Any]:
    """Judge and return the content of verdict.json; pure."""
    judgement = decide(asked, results, proof, contrasts)
    shown = _document(asked, request or record_of(Request, asked.argv), judgement, results, contrasts)
    foretold = {chain.claim: chain.evidence for chain in proof.chains} if proof else {}
    claims = tuple(replace(c, foretells=foretold.get(c.id, ""), logged=logged.get(c.id)) for c in shown.claims)
    document = replace(shown, proof=proof, coverage=coverage, evidence=tuple(evidence), claims=claims)
    plain: dict[str, Any] = json.loads(to_json(document))
    return plain


def _document(
    asked: Declaration,
    request: Request,
    judgement: Judgement,
    results: Sequence[RunResult],
    contrasts: Sequence[Contrast],
) -> Document:
    rows = {row.name: row for row in judgement.scenarios}
    return Document(
        schema=SCHEMA,
        verdict=judgement.verdict,
        sentence=judgement.sentence,
        against=judgement.against,
        reasons=judgement.reasons,
        kafka_version=asked.kafka_version,
        started_at=asked.started_at,
        argv=asked.argv,
        host=asked.host,
        repeats=asked.repeats,
        arms=tuple(_arm(arm) for arm in asked.arms),
        scenarios=tuple(_scenario(asked, request, rows[s.name], s.question) for s in asked.scenarios),
        claims=tuple(_claims(judgement)),
        runs=tuple(_run(asked, rows[r.scenario], r) for r in results if asked.declares(r)),
        contrasts=tuple(ContrastDoc(c.base, c.candidate, tuple(map(finding_doc, c.findings))) for c in contrasts),
        proof=None,
        coverage=None,
        evidence=(),
        not_tested=judgement.not_tested,
        timings=asked.timings,
        cpu_seconds=asked.cpu_seconds,
    )


def _arm(arm: Arm) -> ArmDoc:
    build = arm.build
    return ArmDoc(
        name=arm.name,
        role=arm.role,
        jar_sha256=build.jar_sha256,
        flag=arm.flag,
        builder=build.builder,
        java=arm.java,
        build=build.name,
        kafka_version=build.kafka_version,
        flag_key=build.flag.key,
        flag_known=build.flag.known,
        flag_default=build.flag.default,
        series=build.series,
        note=build.note,
    )


def _scenario(asked: Declaration, request: Request, row: JudgedScenario, question: str) -> ScenarioDoc:
    return ScenarioDoc(
        name=row.name,
        question=question,
        verdict=row.ruling.verdict,
        effect=row.ruling.effect.value,
        inertness=row.ruling.inertness.value,
        discriminates=row.discriminates,
        says=tuple(filter(None, (row.effect_says, row.flag_says))),
        cells=tuple(_cells(asked, request, row)),
    )


def _cells(asked: Declaration, request: Request, row: JudgedScenario) -> list[CellDoc]:
    cells = []
    for arm in asked.arms:
        cell = row.cell(arm.role)
        if cell is None:
            continue
        expected = tuple(str(e) for e in expected_of(arm.role, _about(asked, row.name)))
        command = rerun_command(request, row.name, arm.name)
        told = (cell.state, cell.expectation, cell.reason, cell.agreeing, cell.declared)
        cells.append(CellDoc(arm.role, arm.name, *told, expected, command))
    return cells


def _claims(judgement: Judgement) -> list[ClaimDoc]:
    return [
        ClaimDoc(
            judged.claim.id,
            judged.claim.says,
            judged.claim.source,
            judged.claim.scenario,
            {str(role): str(expected) for role, expected in judged.claim.expected.items()},
            judged.status,
            judged.why,
            "",
            None,
        )
        for judged in judgement.claims
    ]


def _run(asked: Declaration, row: JudgedScenario, result: RunResult) -> RunDoc:
    base = row.ruling.base
    check = check_run(result, _about(asked, row.name), base, row.cell(result.role) or base)
    return RunDoc(
        scenario=result.scenario,
        arm=result.arm,
        role=result.role,
        repeat=result.repeat,
        outcome=result.outcome,
        expectation=result.expectation,
        reason=result.reason,
        evidence=result.evidence,
        seconds=result.seconds,
        measures=result.measures,
        check=check,
    )


def _about(asked: Declaration, scenario: str) -> list[Claim]:
    return [claim for claim in asked.claims if claim.scenario == scenario]


def finding_doc(finding: Finding) -> FindingDoc:
    """Return a finding as verdict.json has it."""
    return FindingDoc(
        kind=finding.kind,
        template=finding.template,
        scenario=finding.scenario,
        role=finding.node_role,
        phase=finding.phase,
        level=finding.level,
        logger=finding.logger,
        base_count=finding.base_count,
        candidate_count=finding.candidate_count,
        base_excerpt=finding.base_excerpt,
        candidate_excerpt=finding.candidate_excerpt,
        evidence=finding.evidence,
        statement=finding.statement,
        significance=finding.significance,
        q=finding.q,
        base_runs=finding.base_runs,
        candidate_runs=finding.candidate_runs,
        says=finding.says,
        base_lasting=finding.base_lasting,
        candidate_lasting=finding.candidate_lasting,
        logged_by=finding.logged_by,
    )
