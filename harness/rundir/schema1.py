"""Folders of schema 1: what became of each kind of file since; pure (docs/run-directory.md, "Folders of before").

Each function takes the plain content of a file, of either schema, and returns that of schema 2: what is converted
already stays as it is, so that a conversion that was cut short can be repeated.
"""

from __future__ import annotations

import json
import operator
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from harness.base.errors import HarnessError
from harness.model.outcome_names import FORMER_EXPECTATIONS, FORMER_OUTCOMES, NODE_ALIVE, outcome_of_today

SCHEMA = 2
T = TypeVar("T")

ARM_OF_ROLL = "roll"
_WHEN = ("before", "after")
_REHEARSED = re.compile(r"\brehearsals/([\w.-]+)/")
_OUTCOME = re.compile(r"[A-Z]+(?:\(\w+\))?")
# What a function of this module raises when its document is not what schema 1 knows.
_DAMAGED = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)


def converted(change: Callable[[T], T], document: T, where: object) -> T:
    """Return what a function of this module makes of a document, which can be written as UTF-8.

    Raises HarnessError that names `where` when the document is damaged.
    """
    try:
        made = change(document)
        json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except _DAMAGED as error:
        raise HarnessError(
            f"{where} is damaged: it is not what schema 1 knows by this name.",
            "Restore it, or have what is in its folder made again.",
        ) from error
    return made


def declaration(document: Any) -> Any:
    """run.json."""
    return {**document, "schema": SCHEMA, "claims": [_claim(claim) for claim in document["claims"]]}


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    expected = {role: _with_outcome(each) for role, each in claim["expected"].items()}
    return {**_renamed(claim, says="text"), "expected": expected}


def proof(document: Any) -> Any:
    """What was proved of a build: proof.json."""
    return {
        **document,
        "differences": [_renamed(each, says="detail") for each in document["differences"]],
        "audit": [_renamed(each, says="detail") for each in document["audit"]],
        "chains": [_renamed(each, says="text") for each in document["chains"]],
    }


def findings(document: Any) -> Any:
    """findings.json of the log diff."""
    document = in_its_run(document)
    return [{**contrast, "findings": [_finding(each) for each in contrast["findings"]]} for contrast in document]


def _finding(finding: Mapping[str, Any]) -> dict[str, Any]:
    return _renamed(finding, node_role="node_kind", says="detail", q="fdr")


def result(document: Any) -> Any:
    """A run's result.json."""
    return _with_outcome(document)


def _with_outcome(document: Mapping[str, Any]) -> dict[str, Any]:
    expectation = document.get("expectation", "")
    renamed = {"expectation": FORMER_EXPECTATIONS[expectation]} if expectation in FORMER_EXPECTATIONS else {}
    return {**document, "outcome": FORMER_OUTCOMES.get(document["outcome"], document["outcome"]), **renamed}


def setup(document: Any) -> Any:
    """setup.json: what it repeated of request.json is gone."""
    return _without(document, "java_home", "base_dist", "profile", "jobs", "offline", "tests", "coverage")


def request(document: Any) -> Any:
    """request.json: what was no option yet is as if it was not given."""
    return {"series": "", "scenario_folders": [], **document}


def seal(document: Any) -> Any:
    """A run's seal.json, but for the digest of the journal."""
    renamed = _renamed(document, made="inputs")
    return {**renamed, "inputs": {"other_jars": [], **renamed["inputs"]}}


def event(document: Any) -> Any:
    """One line of a journal, of a run or of a rehearsal."""
    kind = document.get("event")
    change = _EVENTS.get(kind) if isinstance(kind, str) else None
    return change(document) if change else document


def _outcome_event(document: Mapping[str, Any]) -> dict[str, Any]:
    return _with_outcome({**document, "expectation": document.get("expectation", "")})


def _step_event(document: Mapping[str, Any]) -> dict[str, Any]:
    return _renamed(document, kind="step")


def _node_event(document: Mapping[str, Any]) -> dict[str, Any]:
    if "broker" in document:
        return dict(document)
    addresses = {name: _loopback(document[f"{name}_port"]) for name in ("broker", "controller")}
    return {**_without(document, "broker_port", "controller_port"), **addresses}


def _loopback(port: int | None) -> str:
    return f"127.0.0.1:{port}" if port else ""  # a node of schema 1 always had its listeners there


def _proof_event(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**document, "node": document.get("node", -1)}


def _ledger_event(document: Mapping[str, Any]) -> dict[str, Any]:
    report = {
        "name": document.get("client", "records"),
        "description": document.get("client", "acknowledged records"),
        "acknowledged": document["acked"],
        "lost": document["lost"],
        "duplicates": document["duplicates"],
        "longest_pause_seconds": document["longest_stall_seconds"],
        "failures": {"failed": document["failed"]} if document["failed"] else {},
        "unread": document["unread"],
    }
    stamps = {name: document[name] for name in ("seq", "t", "at")}
    return {**stamps, "event": "client", "report": report}


_EVENTS: Mapping[str, Callable[[Any], Any]] = {
    "outcome": _outcome_event,
    "step": _step_event,
    "node": _node_event,
    "proof": _proof_event,
    "ledger": _ledger_event,
}


def event_of_rehearsal(document: Any, expectation: str) -> Any:
    """One line of a rehearsal's journal; its outcome named no expectation: it is that of the result."""
    return event({**document, "expectation": expectation} if document.get("event") == "outcome" else document)


def seal_of_rehearsal(journal: str) -> Any:
    """seal.json of a rehearsal, which had none, by the digest of its journal: what it was made with is not known."""
    inputs = {"plan": "", "jar": "", "other_jars": [], "java": "", "profile": "", "repeat": 1}
    return {"inputs": inputs, "journal": journal}


def is_rehearsal(document: Any) -> bool:
    """Return whether a result.json is a rehearsal's of schema 1."""
    return "scenario" not in document


def rehearsal(document: Any) -> Any:
    """What was a rehearsal's result.json: that of a run."""
    if not is_rehearsal(document):
        return document
    name = document["name"]
    return {
        "scenario": name,
        "arm": ARM_OF_ROLL,
        "role": "on",
        "repeat": 1,
        "outcome": FORMER_OUTCOMES.get(document["ending"], document["ending"]),
        "expectation": _failed_check(document),
        "reason": document["reason"],
        "evidence": [{**each, "path": in_its_run(each["path"])} for each in document["evidence"]],
        "seconds": document["seconds"],
        "measures": {"node_cpu_seconds": document["cpu_seconds"]},
    }


def node_logs(document: Any) -> Any:
    """One node's entry in the logs.json of what was a rehearsal."""
    if document["scenario"] != ARM_OF_ROLL:
        return document
    name = document["arm"]
    once = "restart base node by node" if name == "control" else "forward"
    return {
        **document,
        "scenario": name,
        "arm": ARM_OF_ROLL,
        "files": [in_its_run(path) for path in document["files"]],
        "phases": [{**each, "name": once} for each in document["phases"]],
    }


def in_its_run(document: Any) -> Any:
    """A record in which paths of logs of what was a rehearsal are those of the run that it became."""
    if isinstance(document, str):
        return _REHEARSED.sub(rf"runs/\1/{ARM_OF_ROLL}/1/", document, count=1)
    if isinstance(document, list):
        return [in_its_run(each) for each in document]
    if isinstance(document, dict):
        return {in_its_run(name): in_its_run(value) for name, value in document.items()}
    return document


def _failed_check(document: Mapping[str, Any]) -> str:
    """Return the check that stopped a roll; a roll that a node's death stopped has none."""
    if document["ending"] == "HELD":
        return ""
    checks = [check for step in document["steps"] for check in (*step["before"], *step["after"])]
    return next((check["name"] for check in checks if not check["met"]), NODE_ALIVE)


def rollout(document: Any, declared: Any) -> Any:
    """rollout.json; `declared` is run.json, which knows the arms. The sentence is written when it is judged again."""
    if document.get("schema") != 1:
        return document
    arms = {arm["role"]: arm for arm in declared["arms"]}
    return {
        "schema": SCHEMA,
        "kafka_version": declared["kafka_version"],
        "plan": roll_plan(document),
        "base": arms["base"],
        "candidate": arms["on"],
        "rehearsals": [rehearsed(each) for each in document["rehearsals"]],
        "outcome": "PASSED" if document["ending"] == "HELD" else document["ending"],
        "sentence": "",
        "reasons": document["reasons"],
        "timings": _renamed(document["timings"], ground="prepare"),
    }


def rehearsals_declared(document: Any, rollout: Any) -> Any:
    """run.json of a rollout, which declared scenarios that no rollout ran; `rollout` is rollout.json of schema 1."""
    names = ("name", "question")
    rehearsals = [{**{name: each[name] for name in names}, "budget_seconds": 0.0} for each in rollout["rehearsals"]]
    return {**document, "scenarios": rehearsals}


def roll_plan(document: Any) -> Any:
    """Return roll-plan.json, which schema 1 had no file for, from a rollout.json of schema 1."""
    names = [each["name"] for each in document["rehearsals"]]
    return {"topology": document["topology"], "order": document["order"], "rehearsals": names, "stall_budget": 0.0}


def rehearsed(document: Any) -> Any:
    """One of the rehearsals in rollout.json, which its own result.json held as well."""
    kept = ("question", "budget_seconds", "errors", "notes", "commands")
    return {
        **{name: document[name] for name in kept},
        "result": rehearsal(document),
        "turns": [_turn(each) for each in document["steps"]],
        "clients": [_client(each) for each in document["accounts"]],
    }


def _turn(document: Mapping[str, Any]) -> dict[str, Any]:
    turn = _renamed(document, duties="roles", jar="build", pause_seconds="pauses")
    checks = {when: [_renamed(each, words="description") for each in turn[when]] for when in _WHEN}
    return {**turn, **checks}


def _client(document: Mapping[str, Any]) -> dict[str, Any]:
    return _renamed(document, words="description", wrong="violations", told="detail")


def _without(document: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def sparklines(document: Any) -> Any:
    """history.json: a run's cells in the nights before."""
    renamed = _renamed(document, strips="cells")
    return {**renamed, "cells": [_renamed(each, mark="trend") for each in renamed["cells"]]}


def night(document: Any) -> Any:
    """night.json."""
    planned = [_renamed(each, words="arguments") for each in document["planned"]]
    ended = [_renamed(each, ending="outcome") for each in document["ended"]]
    return {**document, "schema": SCHEMA, "planned": planned, "ended": ended}


def past_night(document: Any) -> Any:
    """One line of a history of nights."""
    return {
        **document,
        "schema": SCHEMA,
        "verified": [_renamed(each, ending="outcome") for each in document["verified"]],
        "cells": [_past_cell(each) for each in document["cells"]],
        "findings": [_renamed(each, node_role="node_kind") for each in document["findings"]],
    }


def _past_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    renamed = _renamed(cell, shown="outcome")
    standing = renamed["standing"].replace("not asked", "unsupported")
    return {**renamed, "outcome": outcome_of_today(renamed["outcome"]), "standing": standing}


def waivers(text: str) -> str:
    """waivers.toml of a night: the outcomes that it waives."""
    wanted = [outcome_of_today(value) for value in _waived_outcomes(text)]
    for found in reversed(list(_OUTCOME.finditer(text))):  # from the end, so that places before it stay
        if (now := outcome_of_today(found[0])) != found[0]:
            text = _closer(text, text[: found.start()] + now + text[found.end() :], wanted)
    if _waived_outcomes(text) != wanted:
        raise ValueError("an outcome is written with escapes")
    return text


def _closer(text: str, changed: str, wanted: Sequence[str]) -> str:
    """Return that of two files of waivers whose values are nearer to those wanted: comments, other keys stay."""
    met = [sum(map(operator.eq, _waived_outcomes(each), wanted)) for each in (text, changed)]
    return changed if met[1] > met[0] else text


def _waived_outcomes(text: str) -> list[str]:
    return [table["shows"] for table in tomllib.loads(text).get("outcome", [])]


def lines(text: str, change: Callable[[Any], Any], where: object) -> str:
    """Return JSON lines, each converted; a last line that a crash cut stays as it is.

    Raises HarnessError that names the line of what is damaged; `where` names the file.
    """
    whole, end, cut = text.rpartition("\n")
    if not end:
        return text
    changed = (_line(line, change, f"{where}, line {number}") for number, line in enumerate(whole.split("\n"), 1))
    return "".join(f"{line}\n" for line in changed) + cut


def _line(line: str, change: Callable[[Any], Any], where: str) -> str:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(document, dict):
        return line
    made = converted(change, document, where)
    return line if made == document else json.dumps(made, ensure_ascii=False)


def _renamed(document: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """Return a document whose fields have other names; a field that is converted already stays."""
    return {names.get(name, name): value for name, value in document.items()}


# The files of a run directory beside those of its runs, in the order in which they are converted: run.json, which says
# the schema of all, comes last.
RECORDS: Mapping[str, Callable[[Any], Any]] = {
    "proof/*/proof.json": proof,
    "logs/findings.json": findings,
    "logs/totals.json": in_its_run,
    "history.json": sparklines,
    "request.json": request,
    "setup.json": setup,
    "run.json": declaration,
}
