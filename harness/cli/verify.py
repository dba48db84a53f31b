"""`harness verify` and `harness build`: from a patch series or a jar to a verdict."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError
from harness.cli import common
from harness.cli.common import Offline, Out
from harness.cluster.jvm import Profile
from harness.model.proof import TestScope
from harness.model.request import Request
from harness.stages.rundir import read_asked

Jar = Annotated[
    Path | None,
    typer.Option(
        "--jar", help="A finished kafka-raft jar to validate, instead of building the series.", show_default=False
    ),
]
BaseJar = Annotated[
    Path | None,
    typer.Option(
        "--base-jar", help="Your current kafka-raft jar as the control, instead of Apache's.", show_default=False
    ),
]
BaseDist = Annotated[
    Path | None,
    typer.Option("--base-dist", help="An unpacked Kafka as the control: all its jars are used.", show_default=False),
]
Git = Annotated[
    str,
    typer.Option(
        "--git", help="Build from a git repository: URL@REF (tag, branch or commit), not the released sources."
    ),
]
Claims = Annotated[
    str, typer.Option("--claims", help="A claims.toml, or `none`; the series' own if not given.", show_default=False)
]
Sources = Annotated[
    Path | None,
    typer.Option("--sources", help="The Kafka checkout that --jar was built from, for the audit.", show_default=False),
]
Tests = Annotated[TestScope, typer.Option("--tests", help="Which of upstream's raft tests are run on the jar.")]
Coverage = Annotated[
    bool,
    typer.Option("--coverage/--no-coverage", help="Run each scenario once more to see which changed lines it reaches."),
]
Waivers = Annotated[
    Path | None,
    typer.Option("--waivers", help="A waivers.toml: known differences, with reason and expiry.", show_default=False),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="Your own server properties, laid over every node's.", show_default=False),
]
Arms = Annotated[
    str, typer.Option("--arms", help="Only these arms, by name or role: base,patched-on.", show_default=False)
]
Scenarios = Annotated[
    list[str] | None, typer.Option("--scenario", help="Only this scenario; may be given again.", show_default=False)
]
Suite = Annotated[str, typer.Option("--suite", help="The suite of scenarios to run.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="Runs of each scenario on each arm; all are counted.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=16, help="Clusters side by side.")]
JavaHome = Annotated[
    Path | None,
    typer.Option("--java-home", help="Java for nodes and javac; the bundled runtime if not given.", show_default=False),
]
Builder = Annotated[str, typer.Option("--builder", help="auto, javac, ecj, gradle-container or gradle-full.")]
CrossCheck = Annotated[
    bool,
    typer.Option("--cross-check", help="Also hold all builders at hand against each other; exit 1 if they differ."),
]
JvmProfile = Annotated[Profile, typer.Option("--profile", help="JVM settings of the nodes.")]
KafkaVersion = Annotated[
    str,
    typer.Option("--kafka", help="Kafka version: that of --base-dist, or 3.9.1, if not given.", show_default=False),
]

Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume", help="Go on with a run directory that was cut short, with its options.", show_default=False
    ),
]

_EXAMPLES = """

Examples:

    harness verify                              the shipped series against stock 3.9.1
    harness verify --jar kafka-raft-3.9.1.jar   somebody's finished jar
    harness verify --jar new.jar --base-dist /opt/kafka --config my.properties
    harness verify --scenario turn2 --arms base,on --repeats 3
    harness verify --resume out/20260101-120000-verify
"""


_PROVE_EXAMPLES = """

Exit codes: 0 a sound drop-in, 1 a difference that nothing waives, a refuted claim or a failing test, 2 no jar to judge,
3 tests were asked for and could not be run.

Examples:

    harness prove                                  the shipped series, with the tests that touch what it changes
    harness prove --jar kafka-raft-3.9.1.jar --sources ~/kafka --tests all
    harness prove --jar new.jar --claims none --waivers waivers.toml
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("verify", help=f"Build, prove, run, diff and judge: ends with a verdict and report.html.{_EXAMPLES}")(
        _resumable(_with_request(_verify))
    )
    app.command(
        "prove", help=f"Is the jar a drop-in? Differences from base, JUnit tests, the source.{_PROVE_EXAMPLES}"
    )(_with_request(_prove))
    app.command("build", help=f"Only build: make the run directory that `harness run` takes.{_EXAMPLES}")(
        _choosing(_with_request(_build), _with_request(_cross_check))
    )


def _with_request(act: Callable[[Request, Path | None], int]) -> Callable[..., int]:
    def command(
        jar: Jar = None,
        base_jar: BaseJar = None,
        base_dist: BaseDist = None,
        git: Git = "",
        claims: Claims = "",
        sources: Sources = None,
        tests: Tests = TestScope.RELATED,
        coverage: Coverage = True,
        waivers: Waivers = None,
        config: Config = None,
        arms: Arms = "",
        scenario: Scenarios = None,
        suite: Suite = "bootstrap",
        repeats: Repeats = 1,
        jobs: Jobs = 2,
        java_home: JavaHome = None,
        builder: Builder = "auto",
        profile: JvmProfile = Profile.FAST,
        kafka: KafkaVersion = "",
        offline: Offline = False,
        out: Out = None,
    ) -> int:
        request = Request(
            kafka_version=kafka,
            jar=jar,
            base_jar=base_jar,
            base_dist=base_dist,
            git=git,
            claims=claims,
            sources=sources,
            tests=tests,
            coverage=coverage,
            waivers=waivers,
            config=config,
            arms=tuple(filter(None, arms.split(","))),
            scenarios=tuple(scenario or ()),
            suite=suite,
            repeats=repeats,
            jobs=jobs,
            java_home=java_home,
            builder=builder,
            profile=profile,
            offline=offline,
            argv=common.argv(),
        )
        return act(request, out)

    return command


def _choosing(plain: Callable[..., int], checked: Callable[..., int]) -> Callable[..., int]:
    """Return a command with the options of both, which are the same, and one that chooses between them."""

    def command(*, cross_check: bool, **options: object) -> int:
        return (checked if cross_check else plain)(**options)

    return _with_option(command, plain, "cross_check", CrossCheck, default=False)


def _resumable(command: Callable[..., int]) -> Callable[..., int]:
    """Return the command with one more option, by which it goes on with a run directory instead."""
    options_of = inspect.signature(command).parameters

    def resumable(*, resume: Path | None, **options: object) -> int:
        if resume is None:
            return command(**options)
        given = [name for name, value in options.items() if value not in (options_of[name].default, [])]
        return _resume(resume, given)

    return _with_option(resumable, command, "resume", Resume, default=None)


def _with_option(
    command: Callable[..., int], like: Callable[..., int], name: str, kind: object, *, default: object
) -> Callable[..., int]:
    """Return `command` with the signature of `like` and one more option: typer reads options from signatures."""
    signature = inspect.signature(like, eval_str=True)
    option = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
    command.__signature__ = signature.replace(parameters=[*signature.parameters.values(), option])  # type: ignore[attr-defined]
    return command


def _resume(folder: Path, others: list[str]) -> int:
    from harness.stages.rundir import read_request
    from harness.stages.verify import resume

    if others:
        raise HarnessError(
            f"--resume takes its options from {folder}, not --{others[0].replace('_', '-')}.", "Leave the others out."
        )
    toolbox = common.toolbox(offline=read_request(folder).offline)
    common.hold(folder)
    return resume(folder, toolbox, common.reporter()).exit_code


def _verify(request: Request, out: Path | None) -> int:
    from harness.stages.verify import verify

    with common.fresh_run_dir(out, "verify") as folder:
        return verify(request, folder, common.toolbox(offline=request.offline), common.reporter()).exit_code


def _prove(request: Request, out: Path | None) -> int:
    from harness.stages.build import build
    from harness.stages.prove import exit_code, prove, tell

    with common.fresh_run_dir(out, "prove") as folder:
        toolbox = common.toolbox(offline=request.offline)
        build(request, folder, toolbox, common.reporter())
        proof = prove(folder, toolbox, common.reporter())
    tell(common.console(), proof, folder)
    return exit_code(proof)


def _build(request: Request, out: Path | None) -> int:
    from harness.stages.build import build

    with common.fresh_run_dir(out, "build") as folder:
        build(request, folder, common.toolbox(offline=request.offline), common.reporter())
    common.console().print(f"{folder}\nNext: harness run {folder}", highlight=False)
    return 0


def _cross_check(request: Request, out: Path | None) -> int:
    from harness.stages.build import build
    from harness.stages.crosscheck import cross_check

    with common.fresh_run_dir(out, "build") as folder:
        toolbox = common.toolbox(offline=request.offline)
        build(request, folder, toolbox, common.reporter())
    check = cross_check(request, read_asked(folder).kafka_version, folder, toolbox, common.reporter())
    common.console().print(f"{folder}\nNext: harness run {folder}", highlight=False)
    return 1 if check.problems else 0
