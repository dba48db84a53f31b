"""`harness rollout`: rehearse the roll of a jar or a whole Kafka, node by node, and the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError
from harness.cli import common, github
from harness.cli.common import Out
from harness.cli.helptext import help_text
from harness.cli.requests import OUTPUT, own_option, taking_request
from harness.cli.topic_id_options import Cluster, Security, check_security_is_of_cluster
from harness.model.request import Request
from harness.rollout.nodes import USUAL_TOPOLOGY
from harness.rundir.directory import RunDirectory

_HELP = help_text(
    "Rehearse the rollout: swap jar or whole Kafka node by node under load, and back.",
    "Starts a cluster on base under load and replaces the jar, or all of Kafka, node by node, with checks before and "
    "after each step; then runs both versions side by side, rolls back from complete and from half-way, kills a node "
    "in the middle of its step, and checks that a jar which dies when it is loaded stops the roll at the first node. "
    "Between Kafkas with different features, it first says what going back means after they are finalised, and "
    "finalises them last. Ends with report.html, junit.xml, runbook.md and the same as a script, runbook.sh.",
    "Exit codes: 0 it passed, 1 the roll was stopped, 2 usage or harness error, 3 too little could be tested.",
    examples=(
        ("harness rollout", "the shipped series over stock 3.9.1"),
        ("harness rollout --jar kafka-raft-3.9.1.jar --base-dist /opt/kafka --config my.properties", "your own Kafka"),
        ("harness rollout --base-kafka 3.9.2 --kafka 4.3.1", "one release to another"),
        ("harness rollout --base-dist /opt/kafka --dist kafka_2.13-4.3.1.tgz --order brokers-first", "your own Kafkas"),
        (
            "harness rollout --cluster server.properties",
            "topic ids of your own cluster first: anything but healthy stops it",
        ),
        ("harness rollout --topology 3combined+1 --rehearse control --rehearse forward-and-back", "only these two"),
        ("harness rollout --topology 5+3 --command-config client.properties", "five controllers, with TLS and SASL"),
        ("harness rollout --resume out/20260101-120000-rollout", "continue where it was interrupted"),
    ),
)
# What a rehearsal takes of a verification's options.
_SHARED = (
    "jar",
    "dist",
    "kafka_version",
    "git",
    "series",
    "base_jar",
    "base_dist",
    "base_kafka",
    "base_git",
    "base_series",
    "claims",
    "config",
    "java_home",
    "profile",
    "offline",
)

TopologyText = Annotated[
    str,
    typer.Option(
        "--topology",
        help="3+3 or 5+8: controllers and brokers; 3combined+1: nodes that are both, and more brokers; 3+3static: "
        "controller.quorum.voters says who votes (kraft.version 0).",
    ),
]
CommandConfig = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        help="The properties that Kafka's scripts need in your cluster: the runbook gives them to every command, and "
        "the rehearsal's cluster is secured by the same protocol and mechanism. No other value of it is used or kept.",
        show_default=False,
    ),
]
Order = Annotated[
    str,
    typer.Option(
        "--order",
        help="controllers-first, brokers-first, or node ids in the order of the roll: 3,4,5,0,1,2; if not given, "
        "controllers first for a whole Kafka and brokers first for a jar.",
        show_default=False,
    ),
]
Rehearse = Annotated[
    list[str] | None,
    typer.Option("--rehearse", help="Only this rehearsal; can be repeated.", show_default=False),
]
Budget = Annotated[
    float,
    typer.Option(
        "--stall-budget",
        min=0.0,
        help="Seconds that a client may wait for an answer; if not given, twice what base's own restart shows.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    own = (
        own_option("topology", TopologyText, USUAL_TOPOLOGY),
        own_option("order", Order, ""),
        own_option("rehearse", Rehearse, None),
        own_option("stall_budget", Budget, 0.0),
        own_option("command_config", CommandConfig, None),
        own_option("cluster", Cluster, None),
        own_option("security", Security, None),
        own_option("out", Out, None),
    )
    app.command("rollout", help=_HELP)(taking_request(_rollout, *own, only=_SHARED, resume=_resume, shown=(OUTPUT,)))


def _rollout(
    request: Request,
    topology: str,
    order: str,
    rehearse: list[str] | None,
    stall_budget: float,
    command_config: Path | None,
    cluster: list[Path] | None,
    security: Path | None,
    out: Path | None,
) -> int:
    from harness.model.rollout import RollPlan
    from harness.rollout.client_security import read_client_security
    from harness.rollout.nodes import First, parse_order, parse_topology
    from harness.rollout.rehearsals import check_names

    check_security_is_of_cluster(cluster, security)
    nodes = parse_topology(topology)
    first = order if order in list(First) else ""
    plan = RollPlan(
        topology,
        parse_order(order, nodes),
        check_names(rehearse or ()),
        stall_budget,
        first,
        str(command_config or ""),
        read_client_security(command_config) if command_config else None,
        topic_ids_checked=bool(cluster),
    )
    if cluster and (code := _ids_exit_code(cluster, security)):
        return code
    with common.fresh_run_dir(out, "rollout", request) as folder:
        RunDirectory(folder).roll_plan.write(plan)
        return _go_on(folder)


def _ids_exit_code(cluster: list[Path], security: Path | None) -> int:
    """Return 0 if the ids of this cluster are healthy; else a broker that restarts may refuse its partitions."""
    from harness.model.topic_ids import Answer
    from harness.stages.topic_ids import check_cluster

    out = common.console()
    found = check_cluster(cluster, security, out)
    if found.answer is Answer.MISMATCH:
        out.print("The roll is stopped before its first restart. See what to do: harness topic-ids plan")
    elif found.answer is Answer.UNDECIDED:
        out.print("The roll is stopped before its first restart: name what could not be looked at by --cluster too.")
    return found.answer.exit_code


def _resume(folder: Path) -> int:
    if not RunDirectory(folder).roll_plan.exists:
        raise HarnessError(f"{folder} is no rollout: it has no roll-plan.json.", "Begin with `harness rollout`.")
    common.begin(folder)
    return _go_on(folder)


def _go_on(folder: Path) -> int:
    from harness.report.annotations import of_rollout
    from harness.stages.rollout import print_rollout, rollout

    found = rollout(folder, common.toolbox_of(folder), common.reporter())
    print_rollout(common.console(), found, folder)
    common.print_record(RunDirectory(folder).rollout.path)
    github.announce(of_rollout(found, str(folder)), RunDirectory(folder).summary)
    return found.outcome.exit_code
