"""The command-line tools of a Kafka and their options, by the help that each prints itself."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.archives import entry_names
from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.base.processes import bare_environment, run
from harness.building.java_programs import QUICK
from harness.model.kafka_inventory import Command
from harness.toolbox.java import JavaRuntime
from harness.upgrade.help_text import options_in, subcommands_in

HELP_SOURCE = Path(__file__).with_name("CommandHelp.java")
_TIMEOUT_SECONDS = 180
_MOST_OF_A_SCRIPT = 1_000_000  # characters
_STARTED = re.compile(r'kafka-run-class\.sh"?(?:[ \t]+\S+)*?[ \t]+((?:\w+\.)+[A-Z]\w*)(?=\s)')
_NOT_LOADED = re.compile(
    r"^(Caused by: )?java\.lang\.(\w*Error|ClassNotFoundException|NoSuch\w+Exception)\b", re.MULTILINE
)
_LATE = "late"
_ASKED = ("kafka.", "org.apache.kafka.")  # ZooKeeper's shell would begin to connect


@dataclass(frozen=True, slots=True)
class HelpProbe:
    """The compiled program that asks (a folder of classes), and the Java that runs it."""

    classes: Path
    java: JavaRuntime


def scripts_file() -> Path:
    """Return the file of the scripts that are known without bin/."""
    return data_root() / "builds" / "scripts.toml"


def scripts_of(jars: Sequence[Path], folder: Path | None) -> dict[str, str]:
    """Return the main class of each script: as bin/ says, else of those that are known whose class is in the jars."""
    return _scripts_in(folder) if folder else _scripts_by_class(jars)


def script_texts(folder: Path) -> dict[str, str]:
    """Return the texts of the scripts in a Kafka's bin/, by name. Raises HarnessError for one that cannot be read."""
    try:
        return {path.name: _beginning(path) for path in sorted(folder.glob("*.sh")) if path.is_file()}
    except OSError as error:
        raise HarnessError(f"{error.filename} cannot be read: {error.strerror}.", "Let this user read it.") from error


def _beginning(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as script:
        return script.read(_MOST_OF_A_SCRIPT)


def _scripts_in(folder: Path) -> dict[str, str]:
    texts = script_texts(folder)
    return {name: found[1] if (found := _STARTED.search(text)) else "" for name, text in texts.items()}


def _scripts_by_class(jars: Sequence[Path]) -> dict[str, str]:
    known: Mapping[str, str] = tomllib.loads(scripts_file().read_text(encoding="utf-8"))
    wanted = set(known.values())
    found: dict[str, list[str]] = {}
    for entry in (entry for jar in jars for entry in entry_names(jar) if entry.endswith(".class")):
        name = entry.removesuffix(".class").replace("/", ".")
        for called in wanted & {name, name.rpartition(".")[2]}:
            found.setdefault(called, []).append(name)
    return {script: _tool_among(found[name]) for script, name in known.items() if name in found}


def _tool_among(classes: Sequence[str]) -> str:
    """Return the tool among classes of one simple name: Kafka's own, and no plugin's.

    Where a tool moved, the class of its old name may still be there and only warn.
    """
    return max([each for each in classes if each.startswith(_ASKED)] or classes, key=len)


def commands_of(
    scripts: Mapping[str, str], jars: Sequence[Path], probe: HelpProbe
) -> tuple[tuple[Command, ...], tuple[str, ...]]:
    """Return every command with its options, also those that a command has for itself (`kafka-storage.sh format`).

    Then the names of those that gave no answer in time, or cannot be loaded: which options these have is not known.
    Some tools of Kafka's print no help, since they log it (`ConnectStandalone`).
    """
    asked = {name: f"{main} --help" for name, main in scripts.items() if main.startswith(_ASKED)}
    helps, late = _helps(asked, jars, probe)
    inner = {
        f"{name} {sub}": f"{scripts[name]} {sub} --help" for name, text in helps.items() for sub in subcommands_in(text)
    }
    of_inner, late_inner = _helps(inner, jars, probe)
    helps |= of_inner
    named = {**scripts, **{name: question.split()[0] for name, question in inner.items()}}
    found = tuple(Command(name, named[name], options_in(helps.get(name, ""))) for name in sorted(named))
    gave_up = {name for name in (*asked, *inner) if name not in helps or _NOT_LOADED.search(helps[name])}
    unknown = (gave_up | late | late_inner) - {command.name for command in found if command.options}
    return found, tuple(sorted(unknown))


def _helps(asked: Mapping[str, str], jars: Sequence[Path], probe: HelpProbe) -> tuple[dict[str, str], set[str]]:
    """Return what each command prints, and those that had not ended when they were given up.

    One that ends its JVM is followed by another JVM with those after it.
    """
    left, helps, late = list(asked), dict[str, str](), set[str]()
    while left:
        answers = list(_answers([asked[name] for name in left], jars, probe))
        helps |= {left[number]: text for number, text in answers if text is not None}
        late |= {left[number] for number, text in answers if text is None}
        left = left[1 + max((number for number, _ in answers), default=0) :]
    return helps, late


def _answers(questions: Sequence[str], jars: Sequence[Path], probe: HelpProbe) -> Iterator[tuple[int, str | None]]:
    """Yield what each question was answered with, by its number, and None for one that was not over in time."""
    path = os.pathsep.join(map(str, (*jars, probe.classes)))
    command = [str(probe.java.java), *QUICK, "-cp", path, "CommandHelp", *questions]
    with tempfile.TemporaryDirectory() as empty:  # a tool may leave a log where it is started
        try:
            done = run(command, cwd=Path(empty), env=bare_environment(), timeout=_TIMEOUT_SECONDS)
            printed = done.stdout
        except subprocess.TimeoutExpired as cut:
            printed = cut.output.decode("utf-8", "replace") if cut.output else ""
    for line in printed.splitlines():
        number, _, text = line.partition(" ")
        if number == _LATE and text.isdecimal() and int(text) < len(questions):
            yield int(text), None
        if number.isdecimal() and int(number) < len(questions):
            yield int(number), base64.b64decode(text).decode("utf-8", "replace")
