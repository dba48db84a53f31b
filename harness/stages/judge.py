"""Judging a run directory and writing its report: of a verification, or of a rollout."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.engine.sealing import check_results
from harness.judge.decision import decide
from harness.model.arms import Role, replaced_jar
from harness.model.declaration import Declaration
from harness.model.expectations import Met
from harness.model.proof import Proof
from harness.model.rollout import RolloutOutcome
from harness.model.runs import RunResult, Verdict
from harness.model.spares import without_a_say
from harness.model.time_book import TimeKind
from harness.model.verdict import VerdictRecord
from harness.model.verdict_schema import check_record
from harness.rundir.directory import RunDirectory
from harness.stages.compared_logs import why_not_compared
from harness.stages.expected_logs import expected_lines, lines_with_flag_off
from harness.stages.inventory import take_inventory
from harness.stages.power_data import known_power, when_measured, why_unknown
from harness.stages.rollout_result import judge_rollout, report_rollout
from harness.stages.timing import noted


def judge(run_dir: Path, reporter: Reporter) -> VerdictRecord:
    """Judge the results of a verification; writes verdict.json and returns its content."""
    directory = RunDirectory(run_dir)
    reporter.stage("judging")
    with noted(directory, "judge", TimeKind.STAGE):
        check_results(run_dir)
        return judge_run(directory)


def judge_run(directory: RunDirectory) -> VerdictRecord:
    """Judge what lies in a run directory, write verdict.json and return its content.

    A log diff that failed, or that was of other results, is a gap, and what it found does not count. Raises
    HarnessError.
    """
    declaration = directory.declaration.read()
    results = _declared_results(directory, declaration)
    left_out = without_a_say(declaration, results)
    telling = [result for result in results if result.key not in left_out]
    proof = read_proof(directory, declaration)
    gap = why_not_compared(directory) if declaration.compared else ""
    request = directory.request.read_if_exists()
    power = known_power(declaration, request)
    chains = proof.chains if proof else ()
    totals = directory.logs.totals.read_if_exists() if declaration.compared and not gap else None
    record = decide(
        declaration,
        results,
        proof,
        () if gap else directory.logs.findings.read_if_exists() or (),
        request=request,
        coverage=directory.proof(declaration.candidate).coverage.read_if_exists(),
        evidence=take_inventory(directory, [result.key for result in results]),
        logged=expected_lines(directory, telling, chains),
        logged_off=lines_with_flag_off(directory, declaration, telling, chains),
        not_compared=gap,
        not_read=totals.left_out if totals else (),
        power=power,
        power_measured=when_measured(power),
        not_measured=why_unknown(power) if declaration.candidate else "",
    )
    check_record(record)
    directory.verdict.write(record)
    return record


def _declared_results(directory: RunDirectory, declaration: Declaration) -> list[RunResult]:
    """Return the results of what is declared. Raises HarnessError for one of another role than its arm plays."""
    roles = {arm.name: arm.role for arm in declaration.arms}
    found = [result for result in directory.results() if declaration.declares(result)]
    for result in found:
        if result.role is not roles[result.arm]:
            raise HarnessError(
                f"{directory.run(result.key).result.path} says that {result.arm} plays the role {result.role}, and "
                f"run.json that it plays {roles[result.arm]}.",
                f"Remove it, and run that cell again: {directory.resume_command}",
            )
    return found


def read_proof(directory: RunDirectory, declaration: Declaration) -> Proof | None:
    """Return what was proved of the candidate; None when nothing was.

    A proof of other jars than those that were declared is a HarnessError.
    """
    file = directory.proof(declaration.candidate).proof
    proof = file.read_if_exists()
    builds = [arm.build for arm in declaration.arms if arm.build.name == declaration.candidate]
    base = declaration.arm(Role.BASE)
    again = f"Have it proved again: {directory.resume_command}"
    if proof and proof.candidate not in {build.jar_sha256 for build in builds}:
        raise HarnessError(f"{file.path} is about another jar ({proof.candidate}).", again)
    if proof and base and proof.base not in {replaced_jar(base.build, build) for build in builds}:
        raise HarnessError(f"{file.path} compares the jar with another than it replaces ({proof.base}).", again)
    return proof


def report(run_dir: Path, reporter: Reporter) -> Path:
    """Write report.html, junit.xml and summary.md of a verification; return the report's path."""
    from harness.report import write_reports

    directory = RunDirectory(run_dir)
    reporter.stage("writing the report")
    with noted(directory, "report", TimeKind.STAGE):
        return write_reports(directory, directory.verdict.read())


def judge_either(run_dir: Path, reporter: Reporter) -> Verdict | Met | RolloutOutcome:
    """Judge what the folder holds, a verification or a rollout that was rehearsed, and return the answer."""
    directory = RunDirectory(run_dir)
    is_rollout = directory.roll_plan.exists
    return judge_rollout(directory, reporter).outcome if is_rollout else judge(run_dir, reporter).answer


def report_either(run_dir: Path, reporter: Reporter) -> Path:
    """Write the report of what the folder holds: a verification, or a rollout."""
    directory = RunDirectory(run_dir)
    return report_rollout(directory, reporter) if directory.roll_plan.exists else report(run_dir, reporter)
