"""Real logs in ten forms that people have them in: each is read unasked, and differs as the plain logs do."""

import gzip
import io
import json
import sys
import tarfile
from collections.abc import Callable, Iterable
from itertools import zip_longest
from pathlib import Path

import pytest

from harness.logs.folders import Folder, read_files
from harness.logs.log_diff import compare
from harness.logs.read.local_files import log_files
from harness.logs.read.spark import session
from harness.rundir.parts import LogsFolder

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from log_forms import AROUND, AROUND_UNKNOWN, Event, around, objects, of_kafka

pytestmark = pytest.mark.live
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def spark(toolbox, tmp_path_factory):
    with session(tmp_path_factory.mktemp("spark"), toolbox) as opened:
        yield opened


@pytest.fixture(scope="module")
def real(kept_folders) -> dict[str, dict[str, list[Event]]]:
    """Return what the nodes of a real run on stock and of one on the patched jar logged, by node."""
    runs = {"before": "stock", "after": "patched-on"}
    return {
        side: {
            f"kafka-{log.parent.name}": of_kafka(log.read_text())
            for log in sorted((kept_folders / "ship" / "runs" / "turn2" / arm / "1" / "nodes").glob("*/server.log"))
        }
        for side, arm in runs.items()
    }


def text(lines: Iterable[str], end: str = "\n") -> bytes:
    return "".join(f"{line}{end}" for line in lines).encode()


def plain(events: list[Event]) -> bytes:
    return text(around(events, lambda _, line: line))


def tarred(files: Files) -> Files:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return {"logs.tar.gz": written.getvalue()}


def rotated(files: Files) -> Files:
    """Return each log cut into two: the older one named by its hour."""
    found: Files = {}
    for name, content in files.items():
        half = content.index(b"\n[20", len(content) // 2) + 1
        found |= {f"{name}.2026-11-22-21": content[:half], name: content[half:]}
    return found


Form = tuple[Callable[[list[Event]], bytes], Callable[[Files], Files], str]
as_it_is: Callable[[Files], Files] = dict
FORMS: dict[str, Form] = {
    "kubectl": (lambda e: text(around(e, AROUND["kubectl --timestamps"][1])), as_it_is, "{}.log"),
    "kubectl, in a tar": (
        lambda e: text(around(e, AROUND["kubectl --prefix --timestamps"][1])),
        tarred,
        "{}/server.log",
    ),
    "journald": (lambda e: text(around(e, AROUND["journalctl -o short-iso"][1])), as_it_is, "{}.txt"),
    "journald's JSON": (lambda e: text(around(e, AROUND["journalctl -o json"][1])), as_it_is, "{}.json"),
    "docker": (lambda e: gzip.compress(text(around(e, AROUND["docker's json-file"][1]))), as_it_is, "{}-json.log.gz"),
    "compose": (lambda e: text(around(e, AROUND["docker compose logs, in colours"][1])), as_it_is, "{}.out"),
    "syslog": (lambda e: text(around(e, AROUND["syslog, RFC 5424"][1])), as_it_is, "{}/syslog"),
    "stern": (lambda e: text(around(e, AROUND_UNKNOWN["stern"])), as_it_is, "{}.log"),
    "ECS": (lambda e: text(objects(e, "ECS")), as_it_is, "{}/server.log"),
    "GELF behind kubectl": (
        lambda e: text(
            AROUND["kubectl --timestamps"][1](event.at, line) for event, line in zip(e, objects(e, "GELF"), strict=True)
        ),
        as_it_is,
        "{}.log",
    ),
    "Strimzi": (lambda e: text(around(e, lambda _, line: line, "Strimzi")), as_it_is, "{}.log"),
    "rotated, from Windows": (
        lambda e: b"\xef\xbb\xbf" + text(around(e, lambda _, line: line), "\r\n"),
        rotated,
        "{}/server.log",
    ),
    "UTF-16": (lambda e: plain(e).decode().encode("utf-16"), as_it_is, "{}.log"),
    "in colours": (lambda e: text(around(e, lambda _, line: f"\x1b[32m{line}\x1b[0m")), as_it_is, "kafkaServer-{}.out"),
}


def compared(spark, root: Path, sides: dict[str, Files]):
    """Return what differs between two folders of files: all that does not depend on where a line stood."""
    folders = []
    for side, files in sides.items():
        for name, content in files.items():
            (root / side / name).parent.mkdir(parents=True, exist_ok=True)
            (root / side / name).write_bytes(content)
        folders.append(Folder(side, 1, log_files(root / side)))
    logs = LogsFolder(root / "out")
    (contrast,) = compare(read_files(spark, folders, logs), [("before", "after")], logs)
    left_out = json.loads((root / "out" / "totals.json").read_text())["left_out"]
    shown = [
        (f.kind, f.level, f.logger, f.template, f.base_count, f.candidate_count, f.statement) for f in contrast.findings
    ]
    return sorted(shown), left_out


@pytest.fixture(scope="module")
def findings(spark, real, tmp_path_factory):
    sides = {
        side: {f"{name}/server.log": plain(events) for name, events in nodes.items()} for side, nodes in real.items()
    }
    shown, left_out = compared(spark, tmp_path_factory.mktemp("plain"), sides)
    assert len(shown) > 20
    assert not left_out
    return shown


@pytest.mark.parametrize("form", FORMS)
def test_logs_of_a_form_are_read_without_an_option_and_differ_as_the_plain_ones(spark, real, findings, tmp_path, form):
    write, put, name = FORMS[form]
    sides = {
        side: put({name.format(node): write(events) for node, events in nodes.items()}) for side, nodes in real.items()
    }
    assert compared(spark, tmp_path, sides) == (findings, [])


def test_each_side_may_have_a_form_of_its_own(spark, real, findings, tmp_path):
    forms = {"before": FORMS["ECS"], "after": FORMS["kubectl"]}
    sides = {
        side: {forms[side][2].format(node): forms[side][0](events) for node, events in nodes.items()}
        for side, nodes in real.items()
    }
    assert compared(spark, tmp_path, sides) == (findings, [])


@pytest.mark.parametrize(
    "before", ["{}  | ", "\x1b[36m{}  | \x1b[0m", "[pod/{}/kafka] "], ids=["compose", "in colours", "kubectl --prefix"]
)
def test_nodes_that_alternate_in_one_file_differ_as_those_with_a_file_of_their_own(
    spark, real, findings, tmp_path, before
):
    def together(nodes: dict[str, list[Event]]) -> bytes:
        named = [
            [before.format(node) + line for line in plain(events).decode().splitlines()]
            for node, events in nodes.items()
        ]
        return text(line for row in zip_longest(*named) for line in row if line is not None)

    sides = {side: {"all.log": together(nodes)} for side, nodes in real.items()}
    assert compared(spark, tmp_path, sides) == (findings, [])
