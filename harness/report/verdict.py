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
from harness.base.files import read_record, write_text
from harness.base.json import from_json, to_json
from harness.base.paths import data_root
from harness.judge.checks import check_run, expected_of
from harness.judge.decision import JudgedScenario, Judgement, decide
from harness.model.arms import Arm
from harness.model.claims import Claim
from harness.model.declaration import Asked
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


def judge_run(run_dir: Path) -> dict[str, Any]:
    """Judge what lies in a run directory, write verdict.json and return its content.

    Reads run.json, every declared run's result.json and logs/findings.json (which may be missing: a
    log diff that failed does not cost the verdict). A missing or unreadable run.json is a HarnessError.
    """
    asked = read_asked(run_dir)
    findings = run_dir / "logs" / "findings.json"
    contrasts = from_json(tuple[Contrast, ...], findings.read_bytes()) if findings.is_file() else ()
    proof, coverage = read_proof(run_dir, asked)
    results = [result for result in read_results(run_dir) if asked.declares(result)]
    evidence = take_inventory(run_dir, [result.key.folder for result in results])
    logged = foretold_lines(run_dir, results, proof.chains if proof else ())
    request = _request(run_dir, asked)
    verdict = build_verdict(asked, results, contrasts, proof, coverage, evidence, logged, request)
    write_verdict(run_dir, verdict)
    return verdict


def read_asked(run_dir: Path) -> Asked:
    """Return what run.json declares; HarnessError when there is none or it has another schema."""
    path = run_dir / "run.json"
    if not path.is_file():
        raise HarnessError(f"{run_dir} is no run directory: it has no run.json.", "Start one with `harness verify`.")
    return from_json(Asked, path.read_bytes())


def _request(run_dir: Path, asked: Asked) -> Request:
    """Return what was asked for, by request.json; a folder without one has it in the command that was given."""
    path = run_dir / "request.json"
    return read_record(Request, path) if path.is_file() else record_of(Request, asked.argv)


def proof_folder(asked: Asked) -> str:
    """Return the folder, below the run directory, with everything that was proved of the candidate's build."""
    return f"proof/{asked.candidate}"


def read_proof(run_dir: Path, asked: Asked) -> tuple[Proof | None, Coverage | None]:
    """Return what was proved of the candidate and which changed lines its runs reached; None for what was not.

    A proof of another jar than the one that was declared is a HarnessError.
    """
    folder = run_dir / proof_folder(asked)
    proof, coverage = folder / "proof.json", folder / "coverage.json"
    proved = from_json(Proof, proof.read_bytes()) if proof.is_file() else None
    digests = {arm.build.jar_sha256 for arm in asked.arms if arm.build.name == asked.candidate}
    if proved and proved.candidate not in digests:
        raise HarnessError(f"{proof} is about another jar ({proved.candidate}).", "Run `harness prove` again.")
    return proved, from_json(Coverage, coverage.read_bytes()) if coverage.is_file() else None


def read_results(run_dir: Path) -> list[RunResult]:
    """Return the results of all runs in the folder, by scenario, arm and repeat.

    A result that names another run than the folder it lies in is a HarnessError: it was moved or copied there.
    """
    paths = (run_dir / "runs").glob("*/*/*/result.json")
    return sorted((_read_result(run_dir, path) for path in paths), key=lambda r: r.key)


def _read_result(run_dir: Path, path: Path) -> RunResult:
    result = from_json(RunResult, path.read_bytes())
    if result.key.folder != path.parent.relative_to(run_dir).as_posix():
        raise HarnessError(
            f"{path} is the result of another run: it names {result.key.folder}.",
            "Move it back to its folder, or remove it and run that cell again.",
        )
    return result


def write_verdict(run_dir: Path, verdict: Mapping[str, Any]) -> Path:
    """Check `verdict` against its schema and write verdict.json; HarnessError names the field that is wrong."""
    schema = json.loads((data_root() / "reports/schema/verdict.schema.json").read_text("utf-8"))
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(verdict))
    if error is not None:
        raise HarnessError(f"verdict.json would not match its schema at {error.json_path}: {error.message[:200]}.")
    return write_text(run_dir / "verdict.json", json.dumps(verdict, ensure_ascii=False, indent=1) + "\n")


def read_verdict(run_dir: Path) -> dict[str, Any]:
    """Return the content of verdict.json; HarnessError when the run has not been judged."""
    path = run_dir / "verdict.json"
    if not path.is_file():
        raise HarnessError(f"{run_dir} has no verdict.json.", f"Judge it first: harness judge {run_dir}")
    verdict: dict[str, Any] = json.loads(path.read_bytes())
    return verdict


def build_verdict(
    asked: Asked,
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
    asked: Asked,
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


def _scenario(asked: Asked, request: Request, row: JudgedScenario, question: str) -> ScenarioDoc:
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


def _cells(asked: Asked, request: Request, row: JudgedScenario) -> list[CellDoc]:
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


def _run(asked: Asked, row: JudgedScenario, result: RunResult) -> RunDoc:
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


def _about(asked: Asked, scenario: str) -> list[Claim]:
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
