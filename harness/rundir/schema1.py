"""Folders of schema 1: what became of each kind of file since; pure (docs/run-directory.md, "Folders of before").

Each function takes the plain content of a file, of either schema, and returns that of schema 2: what is converted
already stays as it is, so that a conversion that was cut short can be repeated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

SCHEMA = 2

_OUTCOMES = {"HELD": "PASSED", "REFUTED": "FAILED"}
_SHOWN = re.compile(r"\b(HELD|REFUTED)\b(?=$|\()")
_WAIVED_OUTCOME = re.compile(r"^(\s*shows\s*=\s*[\"'])(HELD|REFUTED)\b", re.MULTILINE)


def declaration(document: Any) -> Any:
    """run.json."""
    return {**document, "schema": SCHEMA, "claims": [_claim(claim) for claim in document["claims"]]}


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    return {**claim, "expected": {role: _with_outcome(each) for role, each in claim["expected"].items()}}


def result(document: Any) -> Any:
    """A run's result.json."""
    return _with_outcome(document)


def _with_outcome(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**document, "outcome": _OUTCOMES.get(document["outcome"], document["outcome"])}


def seal(document: Any) -> Any:
    """A run's seal.json, but for the digest of the journal."""
    inputs = document.get("inputs", document.get("made"))
    return {"inputs": inputs, "journal": document["journal"]}


def event(document: Any) -> Any:
    """One line of a journal."""
    return _with_outcome(document) if document.get("event") == "outcome" else document


def rehearsal(document: Any) -> Any:
    """A rehearsal's result.json."""
    return {**document, "ending": _OUTCOMES.get(document["ending"], document["ending"])}


def rollout(document: Any) -> Any:
    """rollout.json."""
    return rehearsal({**document, "rehearsals": [rehearsal(each) for each in document["rehearsals"]]})


def sparklines(document: Any) -> Any:
    """history.json: a run's cells in the nights before."""
    cells = document.get("cells", document.get("strips"))
    return {"legend": document["legend"], "nights": document["nights"], "cells": cells}


def night(document: Any) -> Any:
    """night.json."""
    return {**document, "schema": SCHEMA}


def past_night(document: Any) -> Any:
    """One line of a history of nights."""
    cells = [{**cell, "shown": _SHOWN.sub(_renamed, cell["shown"])} for cell in document["cells"]]
    return {**document, "schema": SCHEMA, "cells": cells}


def waivers(text: str) -> str:
    """waivers.toml of a night: the outcomes that it waives."""
    return _WAIVED_OUTCOME.sub(lambda found: f"{found[1]}{_OUTCOMES[found[2]]}", text)


def lines(text: str, convert: Callable[[Any], Any]) -> str:
    """Return JSON lines, each converted; a last line that a crash cut stays as it is."""
    whole, end, cut = text.rpartition("\n")
    return "".join(f"{_line(line, convert)}\n" for line in whole.split("\n")) + cut if end else text


def _line(line: str, convert: Callable[[Any], Any]) -> str:
    try:
        document = json.loads(line)
    except ValueError:
        return line
    converted = convert(document) if isinstance(document, dict) else document
    return line if converted == document else json.dumps(converted, ensure_ascii=False)


def _renamed(found: re.Match[str]) -> str:
    return _OUTCOMES[found[0]]


# The files of a run directory beside those of its runs, in the order in which they are converted: run.json, which tells
# the schema of all, comes last.
RECORDS: Mapping[str, Callable[[Any], Any]] = {
    "rollout.json": rollout,
    "history.json": sparklines,
    "run.json": declaration,
}
