"""A small rollout with a control and a roll forward and back, as its stages would leave it."""

from pathlib import Path

from harness.model.runs import Evidence
from harness.rollout.accounts import Account
from harness.rollout.health import AFTER, BEFORE, ONE_ACTIVE_CONTROLLER
from harness.rollout.records import (
    CONTROL,
    SCHEMA,
    CheckSeen,
    CommandSeen,
    Ending,
    Installed,
    RehearsalResult,
    Rollout,
    StepSeen,
)

BASE = Installed("base", Path("/dist/kafka-raft-3.9.1.jar"), "b" * 64, "absent")
CANDIDATE = Installed("the candidate", Path("/run/builds/patched/kafka-raft-3.9.1.jar"), "c" * 64, "true")
ORDERS = Account("orders", "records with acks=all", 900, 0, 0, 1.5)
CLICKS = Account("clicks", "records with acks=1", 900, 3, 0, 0.7, {"_TRANSPORT": 2}, binding=False)
LOST = Account("orders", "records with acks=all", 900, 2, 0, 1.5)
STATUS = CommandSeen(ONE_ACTIVE_CONTROLLER.command, 1.1, 0, "LeaderId:               1", agrees=True)
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


def checks(of, problem=""):
    """Return the checks as seen, the first of them unmet where there is a problem."""
    told = [problem, *([""] * (len(of) - 1))]
    return tuple(CheckSeen(c.name, c.words, not p, 4.0, p) for c, p in zip(of, told, strict=True))


def step(number, phase, node, action="replace", jar="the candidate", stopped=""):
    """Return a step that went well, or was stopped."""
    before, after = checks(BEFORE), checks(AFTER, stopped)
    waits = {"orders": 1.5, "clicks": 0.0}
    return StepSeen(number, phase, node, "broker", action, jar, 12.3, 11.0, before, after, waits, stopped)


def rehearsal(name, steps, accounts, ending=Ending.PASSED, reason="", notes=(), commands=(), evidence=()):
    """Return a rehearsal."""
    budget = 0.0 if name == CONTROL else 5.0
    result = (name, "Does it hold?", ending, reason, 90.0, budget, steps, accounts, {"ERROR sad (x)": 2})
    return RehearsalResult(*result, notes, evidence, 88.0, commands)


def rollout(kind="held"):
    """Return a rollout that held, or one that was stopped at its first step with hostile words."""
    control = rehearsal(CONTROL, (step(1, "restart", 3, "restart", "base"),), (ORDERS, CLICKS), commands=(STATUS,))
    if kind == "held":
        steps = (step(1, "forward", 3), step(2, "back from complete", 3, jar="base"))
        rolled = rehearsal("forward-and-back", steps, (ORDERS, CLICKS), notes=("a key is left",))
        return _whole(Ending.PASSED, (), (control, rolled))
    evidence = (Evidence("rehearsals/forward-and-back/nodes/3/server.log", 7, HOSTILE),)
    stopped = rehearsal(
        "forward-and-back",
        (step(1, "forward", 3, stopped=HOSTILE),),
        (LOST,),
        Ending.STOPPED,
        HOSTILE,
        evidence=evidence,
    )
    return _whole(Ending.STOPPED, (f"forward-and-back: {HOSTILE}",), (control, stopped))


def _whole(ending, reasons, rehearsals):
    return Rollout(SCHEMA, "3+3", (), BASE, CANDIDATE, rehearsals, ending, reasons, {"rehearse": 180.0})


def events():
    """Return a journal of one node that is stopped and started under a leader."""
    told = [
        ("phase", {"name": "start on base"}),
        ("node", {"node": 3, "state": "starting"}),
        ("node", {"node": 3, "state": "ready"}),
        ("quorum", {"leader": 1, "epoch": 7, "high_watermark": 4, "voters": {"1": 4}, "observers": {"3": 4}}),
        ("phase", {"name": "forward"}),
        ("step", {"kind": "do", "text": "stop node 3", "status": "begin"}),
        ("node", {"node": 3, "state": "stopped"}),
        ("step", {"kind": "do", "text": "stop node 3", "status": "done", "seconds": 1.0}),
        ("step", {"kind": "guard", "text": "one controller is active", "status": "unmet", "seconds": 1.0}),
    ]
    return [{"seq": seq, "t": float(seq), "event": event, **fields} for seq, (event, fields) in enumerate(told, 1)]
