"""The commands of the CI examples in docs/ci, as an agent's shell would be given them."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "docs/ci/github-nightly.yml"
VERIFY_WORKFLOW = ROOT / "docs/ci/github-verify.yml"
JENKINSFILE = ROOT / "docs/ci/Jenkinsfile"


def workflow(file=WORKFLOW):
    """Return a workflow as plain data."""
    return YAML(typ="safe").load(file.read_text(encoding="utf-8"))


def workflow_commands(job, file=WORKFLOW):
    """Return the `run` lines of a job, in order."""
    return [step["run"] for step in workflow(file)["jobs"][job]["steps"] if "run" in step]


def jenkins_commands():
    """Return the shell steps of the pipeline, in order."""
    return re.findall(r"\bsh '([^']*)'", JENKINSFILE.read_text(encoding="utf-8"))


def filled(command, values):
    """Return a command with its `${{ … }}` expressions replaced; one that is not known is a KeyError."""
    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda found: str(values[found.group(1)]), command)


def without_tox(commands) -> Iterator[str]:
    """Yield the commands that tox would run, by tox.ini; those that only install something are left out."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "tox.ini")
    ran = {name: config[f"testenv:{name}"]["commands"].strip() for name in ("nightly", "verify")}
    for command in commands:
        if re.search(r"-m (venv|pip) |apt-get |--notest$", command):
            continue
        command = re.sub(r"^\S*python3? -m tox exec -e \w+ -- ", "", command)
        yield re.sub(r"^\S*python3? -m tox -e (\w+) -- (.*)", lambda m: ran[m[1]].replace("{posargs}", m[2]), command)
