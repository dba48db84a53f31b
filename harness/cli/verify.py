"""`harness verify` and `harness build`: from a patch series or a jar to a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import common, github
from harness.cli.common import Out
from harness.cli.helptext import help_text
from harness.cli.requests import OUTPUT, VERBOSE, all_but, own_option, taking_request
from harness.model.request import Request
from harness.model.verdict import VerdictRecord
from harness.rundir.directory import RunDirectory

CrossCheck = Annotated[
    bool,
    typer.Option("--cross-check", help="Also compare what all available builders make; exit 1 if it differs."),
]
_OUT = own_option("out", Out, None)

_VERIFY_HELP = help_text(
    "Build, prove, run, diff and judge: ends with a verdict and report.html.",
    examples=(
        ("harness verify", "the shipped series against stock 3.9.1"),
        ("harness verify --jar kafka-raft-3.9.1.jar", "somebody's finished jar"),
        ("harness verify --jar new.jar --base-dist /opt/kafka --config my.properties", "on top of your own Kafka"),
        ("harness verify --base-kafka 3.9.1 --kafka 3.9.2", "one release against another, by the standard suite"),
        ("harness verify --base-dist /opt/kafka --dist kafka_2.13-3.9.2.tgz", "whole Kafkas that you have"),
        ("harness verify --scenario turn2 --arms base,on --repeats 3", "one scenario, three times"),
        ("harness verify --arms base --claims none --suite elections", "no candidate: is stock as expected?"),
        ("harness verify --fresh --profile-time", "everything again from scratch, and where the time goes"),
        ("harness verify --resume out/20260101-120000-verify", "continue where it was interrupted"),
    ),
)
_PROVE_HELP = help_text(
    "Is the jar a drop-in? Differences from base, JUnit tests, the source.",
    "Exit codes: 0 a sound drop-in, 1 a difference that nothing waives, a refuted claim or a failing test, 2 no jar "
    "to judge, 3 tests were selected and could not be run.",
    examples=(
        ("harness prove", "the shipped series, with the tests that touch what it changes"),
        ("harness prove --jar kafka-raft-3.9.1.jar --sources ~/kafka --tests all", "a jar and what it was built from"),
        ("harness prove --jar new.jar --claims none --waivers waivers.toml", "with known differences waived"),
    ),
)
_BUILD_HELP = help_text(
    "Only build: make the run directory that `harness run` takes.",
    examples=(
        ("harness build", "the shipped series, by the best builder at hand"),
        ("harness build --git /src/kafka@3.9.1 --builder javac", "the series on a checkout of yours"),
        ("harness build --builder gradle-container --cross-check", "by every available builder, and compare them"),
    ),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("verify", help=_VERIFY_HELP)(taking_request(_verify, _OUT, resume=_resume, shown=(VERBOSE, OUTPUT)))
    app.command("prove", help=_PROVE_HELP)(taking_request(_prove, _OUT, only=all_but("profile_time"), shown=(OUTPUT,)))
    app.command("build", help=_BUILD_HELP)(
        taking_request(
            _build, _OUT, own_option("cross_check", CrossCheck, False), only=all_but("fresh", "profile_time")
        )
    )


def _verify(request: Request, out: Path | None) -> int:
    from harness.stages.verify import verify

    common.allow_networks()
    with common.fresh_run_dir(out, "verify", request) as folder:
        record = verify(folder, common.toolbox_of(folder), common.reporter())
        _announce(folder, record)
        return record.answer.exit_code


def _resume(folder: Path) -> int:
    from harness.stages.verify import verify

    common.allow_networks()
    common.refuse_rollout(folder)
    toolbox = common.toolbox_of(folder)
    common.begin(folder)
    record = verify(folder, toolbox, common.reporter())
    _announce(folder, record)
    return record.answer.exit_code


def _announce(folder: Path, record: VerdictRecord) -> None:
    common.print_record(RunDirectory(folder).verdict.path)
    if not github.in_job():
        return
    from harness.report.annotations import of_verdict

    github.announce(of_verdict(record, str(folder)), RunDirectory(folder).summary)


def _prove(request: Request, out: Path | None) -> int:
    from harness.stages.build import build
    from harness.stages.prove import exit_code, print_proof, prove

    with common.fresh_run_dir(out, "prove", request) as folder:
        toolbox = common.toolbox_of(folder)
        build(folder, toolbox, common.reporter(), nodes=False)
        proof = prove(folder, toolbox, common.reporter())
    print_proof(common.console(), proof, folder)
    directory = RunDirectory(folder)
    common.print_record(directory.proof(directory.declaration.read().candidate).proof.path)
    return exit_code(proof)


def _build(request: Request, out: Path | None, cross_check: bool) -> int:
    from harness.stages.build import build
    from harness.stages.crosscheck import cross_check as check_builders

    with common.fresh_run_dir(out, "build", request) as folder:
        toolbox = common.toolbox_of(folder)
        build(folder, toolbox, common.reporter(), nodes=False)
    problems = cross_check and bool(check_builders(folder, toolbox, common.reporter()).problems)
    common.console().print(f"{folder}\nNext: harness run {folder}", highlight=False)
    return 1 if problems else 0
