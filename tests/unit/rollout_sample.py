"""A small rollout with a control and a roll forward and back, as its stages would leave it."""

from dataclasses import replace

from harness.model.arms import Arm, Build, Flag, Kafka, Role
from harness.model.clients import ClientReport
from harness.model.events import CommandTried, NodeChanged, NodeProved, PhaseStarted, QuorumSeen, StepChanged
from harness.model.features import Downgrade, FeatureChange, FeaturePlan
from harness.model.rollout import SCHEMA, CheckResult, Rehearsal, RolloutOutcome, RolloutVerdict, RollPlan, Turn
from harness.model.runs import Evidence, Outcome, RunResult
from harness.model.security import Security
from harness.rollout.finalising import downgrade_call, upgrade_call
from harness.rollout.health import AFTER, BEFORE, ONE_ACTIVE_CONTROLLER
from harness.rollout.rehearsals import CONTROL, FINALISED, FORWARD_AND_BACK
from harness.rundir.journal import Entry

FLAG = Flag("a.key", known=True, default="true")
BASE = Arm("stock", Role.BASE, Build("stock", "3.9.1", "/dist/kafka-raft-3.9.1.jar", "b" * 64, "release", FLAG), "")
PATCHED = Build("patched", "3.9.1", "/run/builds/patched/kafka-raft-3.9.1.jar", "c" * 64, "javac", FLAG)
CANDIDATE = Arm("patched-on", Role.ON, PATCHED, "true")
ORDERS = ClientReport("orders", "records with acks=all", 900, 0, 0, 1.5)
CLICKS = ClientReport("clicks", "records with acks=1", 900, 3, 0, 0.7, {"_TRANSPORT": 2}, binding=False)
LOST = ClientReport("orders", "records with acks=all", 900, 2, 0, 1.5)
STATUS = CommandTried(ONE_ACTIVE_CONTROLLER.call.text(), 1.1, 0, "LeaderId:               1", agrees=True)
NO_FLAG = Flag("", known=False)
FEATURES = FeaturePlan(
    "4.3-IV0",
    "3.9-IV0",
    (FeatureChange("metadata.version", "3.9-IV0 (21)", "4.3-IV0 (30)", 21, 30),),
    Downgrade.UNSUPPORTED,
    ("Until then every node can go back.", "Then there is no way back."),
)
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


def checks(of, problem=""):
    """Return the checks as made, the first of them unmet where there is a problem."""
    problems = [problem, *([""] * (len(of) - 1))]
    return tuple(CheckResult(c.name, c.description, not p, 4.0, p) for c, p in zip(of, problems, strict=True))


def turn(number, phase, node, action="replace", build="the candidate", stopped=""):
    """Return a turn that went well, or was stopped."""
    before, after = checks(BEFORE), checks(AFTER, stopped)
    waits = {"orders": 1.5, "clicks": 0.0}
    return Turn(number, phase, node, "broker", action, build, 12.3, 11.0, before, after, waits, stopped)


def rehearsal(name, turns, clients, outcome=Outcome.PASSED, reason="", notes=(), commands=(), evidence=()):
    """Return a rehearsal."""
    failed = "node_alive" if outcome is Outcome.FAILED else ""
    result = RunResult(name, "roll", Role.ON, 1, outcome, failed, reason, evidence, 90.0)
    budget = 0.0 if name == CONTROL else 5.0
    return Rehearsal("Does it work?", result, budget, turns, clients, {"ERROR sad (x)": 2}, notes, commands)


def rollout(kind="passed"):
    """Return a rollout that passed, or one that was stopped at its first turn with hostile words."""
    control = rehearsal(CONTROL, (turn(1, "restart", 3, "restart", "base"),), (ORDERS, CLICKS), commands=(STATUS,))
    if kind == "passed":
        turns = (turn(1, "forward", 3), turn(2, "back from complete", 3, build="base"))
        rolled = rehearsal(FORWARD_AND_BACK, turns, (ORDERS, CLICKS), notes=("a key is left",))
        return _whole(RolloutOutcome.PASSED, "All passed.", (), (control, rolled))
    evidence = (Evidence("runs/forward-and-back/roll/1/nodes/3/server.log", 7, HOSTILE),)
    turns = (turn(1, "forward", 3, stopped=HOSTILE),)
    stopped = rehearsal(FORWARD_AND_BACK, turns, (LOST,), Outcome.FAILED, HOSTILE, evidence=evidence)
    return _whole(RolloutOutcome.STOPPED, HOSTILE, (f"forward-and-back: {HOSTILE}",), (control, stopped))


def _whole(outcome, sentence, reasons, rehearsals):
    plan = RollPlan("3+3", (), (CONTROL, FORWARD_AND_BACK), 0.0)
    timings = {"rehearse": 180.0}
    return RolloutVerdict(
        SCHEMA,
        "3.9.1",
        plan,
        BASE,
        CANDIDATE,
        rehearsals,
        outcome,
        sentence,
        reasons,
        timings,
        knows_zookeeper=True,
    )


def secured_rollout():
    """Return one that passed on five controllers, with a file that scripts are given."""
    found = rollout()
    plan = replace(
        found.plan,
        topology="5+3",
        command_config="conf/client.properties",
        security=Security("SASL_SSL", "SCRAM-SHA-512", clients=True),
    )
    options = {"kafka-leader-election.sh": "--admin.config"}
    return replace(found, plan=plan, config_options=options)


def _kafka(version):
    raft = f"kafka-raft-{version}.jar"
    return Kafka(version, "", raft, {raft: version[0] * 64, f"kafka-clients-{version}.jar": version[-1] * 64})


def _arm(version, role):
    kafka = _kafka(version)
    jar = f"/cache/{kafka.raft_jar}"
    build = Build("kafka", version, jar, kafka.jars[kafka.raft_jar], "release", NO_FLAG, kafka=kafka)
    return Arm("kafka", role, build, "absent")


def whole_rollout(rehearsed=True):
    """Return a rollout of Kafka 3.9.2 to 4.3.1 with its features finalised, or one that did not come to that."""
    found = rollout()
    restarts = (turn(1, "restart with the features finalised", 0, "restart"),)
    commands = (
        CommandTried(upgrade_call(FEATURES).text(), 2.0, 0, "metadata.version was upgraded to 30.", agrees=True),
        CommandTried(downgrade_call(FEATURES).text(), 2.0, 1, f"Refusing {HOSTILE}", agrees=True),
    )
    finalised = rehearsal(FINALISED, restarts, (ORDERS,), commands=commands)
    return replace(
        found,
        kafka_version="3.9.2",
        base=_arm("3.9.2", Role.BASE),
        candidate=_arm("4.3.1", Role.ON),
        rehearsals=(*found.rehearsals, *([finalised] if rehearsed else [])),
        features=FEATURES,
    )


def mixed():
    """Return the journal of two nodes of which one is replaced."""
    ours = ("kafka-raft-4.3.1.jar 444444444444",)
    events = (
        NodeChanged(0, "ready"),
        NodeProved(0, jars=57),
        NodeChanged(3, "ready"),
        NodeProved(3, jars=57),
        PhaseStarted("forward"),
        NodeChanged(0, "stopping"),
        NodeProved(0, jars=57, differing=ours),
        StepChanged("do", "end the turn", "done"),
    )
    return [Entry(seq, float(seq), "", event) for seq, event in enumerate(events, 1)]


def entries():
    """Return the journal of one node that is stopped and started under a leader."""
    events = (
        PhaseStarted("start on base"),
        NodeChanged(3, "starting"),
        NodeChanged(3, "ready"),
        QuorumSeen(1, 7, 4, {1: 4}, {3: 4}),
        PhaseStarted("forward"),
        StepChanged("do", "stop node 3", "begin"),
        NodeChanged(3, "stopped"),
        StepChanged("do", "stop node 3", "done", seconds=1.0),
        StepChanged("guard", "one controller is active", "unmet", seconds=1.0),
    )
    return [Entry(seq, float(seq), "", event) for seq, event in enumerate(events, 1)]
