"""Logs of several nodes in one file: each node's lines are read by themselves, in their order."""

import gzip
import json
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_forms import AROUND, EVENTS, around, nanoseconds, plain

from harness.logs.read import apart
from harness.logs.read.apart import MOST_NODES, taken_apart
from harness.logs.read.layout_detection import detect
from harness.logs.read.node_names import node_names

AT = EVENTS[0].at
STAMP = nanoseconds(AT)
# What stands before the lines of a node, by who puts it there, and what the node is called.
BEFORE = {
    "docker compose logs": ("{}  | ", "{}"),
    "docker compose logs, in colours": ("\x1b[36m{}  | \x1b[0m", "{}"),
    "docker compose logs --timestamps": (f"{{}}  | {STAMP} ", "{}"),
    "docker service logs": ("kafka.{}@host-1    | ", "kafka.{}@host-1"),
    "kubectl --prefix": ("[pod/{}/kafka] ", "{}/kafka"),
    "kubectl --prefix --timestamps": (f"[pod/{{}}/kafka] {STAMP} ", "{}/kafka"),
    "stern": ("{} kafka ", "{} kafka"),
    "stern --timestamps": (f"{{}} kafka {STAMP} ", "{} kafka"),
    "kubetail": ("[{}] ", "{}"),
    "grep -H": ("logs/{}.log:", "logs/{}.log"),
    "journalctl --merge": (f"{AT:%b %d %H:%M:%S} {{}} kafka[4711]: ", "{}"),
    "journalctl -o short-iso": (f"{AT:%Y-%m-%dT%H:%M:%S}+0000 {{}} kafka-run[47]: ", "{}"),
    "journalctl -o with-unit": (f"{AT:%a %Y-%m-%d %H:%M:%S} UTC {{}} kafka.service[47]: ", "{}"),
    "syslog, RFC 3164": (f"<14>{AT:%b %d %H:%M:%S} {{}}.example.org kafka: ", "{}.example.org"),
    "syslog, RFC 5424": (f"<14>1 {STAMP} {{}} kafka 4711 - - ", "{}"),
}
# Objects that have a line, and name the node beside it.
OBJECTS_OF = {
    "journalctl -o json": lambda node, line: {"MESSAGE": line, "_HOSTNAME": node, "PRIORITY": "6"},
    "journalctl -o json, with bytes": lambda node, line: {"_HOSTNAME": node, "MESSAGE": list(line.encode())},
    "aws logs filter-log-events": lambda node, line: {"logStreamName": node, "message": line},
    "gcloud logging read": lambda node, line: {"resource": {"labels": {"pod_name": node}}, "textPayload": line},
}
NODES = ("kafka-0", "kafka-1", "zookeeper")


@lru_cache
def naming(lines: tuple[str, ...]):
    """Return where lines name their nodes, by what they are found to be carried by."""
    return node_names(lines, detect(lines).carriers)


def copied(folder: Path, lines: list[str], names=None, most=apart.MOST, content=None):
    """Return what each node's copy of a log with these lines holds, by the log's name, and why it was not taken apart.

    Of copies nothing may stay behind.
    """
    log, out = folder / "all.log", folder / "out"
    out.mkdir(exist_ok=True)
    log.write_bytes(content or "".join(f"{line}\n" for line in lines).encode())
    names = names or naming(tuple(lines[:50]))
    with taken_apart({str(log): names} if names else {}, {}, out, most) as found:
        logs = {name: Path(copy).read_text().removesuffix("\n").split("\n") for name, copy in found.copies.items()}
        assert list(found.logs.get(str(log), ())) == list(logs)
    assert list(out.iterdir()) == []
    return {name.removeprefix(str(log)): read for name, read in logs.items()}, found.refused.get(str(log), "")


@pytest.mark.parametrize(("before", "named"), BEFORE.values(), ids=BEFORE)
def test_each_line_belongs_to_the_node_that_stands_before_it_stack_traces_too(tmp_path, before, named):
    of_node = {node: [before.format(node) + line for line in plain(EVENTS)] for node in NODES}
    lines = [line for together in zip(*of_node.values(), strict=True) for line in together]
    found, _ = copied(tmp_path, lines)
    assert found == {f"[{named.format(node)}]": written for node, written in of_node.items()}


@given(
    st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(plain(EVENTS))), min_size=1, max_size=60),
    st.sampled_from(list(BEFORE)),
    st.integers(200, 4000),
)
def test_lines_that_alternate_anyhow_are_given_back_node_by_node_in_their_order(tmp_path_factory, drawn, form, piece):
    before, named = BEFORE[form]
    lines = [before.format(node) + line for node in NODES for line in plain(EVENTS)]  # by these it is known
    lines += [before.format(node) + line for node, line in drawn]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(apart, "_AT_ONCE", piece)
        found, _ = copied(tmp_path_factory.mktemp("logs"), lines)
    assert found == {
        f"[{named.format(node)}]": [line for line in lines if line.startswith(before.format(node))] for node in NODES
    }


@pytest.mark.parametrize("outer", ["journalctl -o json", "the kubelet", "syslog, RFC 5424", "docker's json-file"])
def test_nodes_are_told_apart_behind_what_carried_all_of_them(tmp_path, outer):
    put = AROUND[outer][1]
    of_node = {node: around(EVENTS, lambda at, line, node=node: put(at, f"{node}  | {line}")) for node in NODES}
    lines = [line for together in zip(*of_node.values(), strict=True) for line in together]
    assert copied(tmp_path, lines)[0] == {f"[{node}]": written for node, written in of_node.items()}


@pytest.mark.parametrize("put", OBJECTS_OF.values(), ids=OBJECTS_OF)
@pytest.mark.parametrize("before", ["", "data: "])
def test_nodes_are_told_apart_by_what_objects_name_beside_their_line(tmp_path, put, before):
    of_node = {node: [before + json.dumps(put(node, line)) for line in plain(EVENTS)] for node in NODES}
    lines = [line for together in zip(*of_node.values(), strict=True) for line in together]
    assert copied(tmp_path, lines)[0] == {f"[{node}]": written for node, written in of_node.items()}


def test_an_object_in_a_message_names_no_node(tmp_path):
    within = [json.dumps({"_HOSTNAME": f"h{number}", "pod_name": f"p{number}"}) for number in range(20)]
    lines = [json.dumps({"_HOSTNAME": "h", "MESSAGE": f"{line} {each}"}) for line in plain(EVENTS) for each in within]
    assert copied(tmp_path, lines) == ({}, "")


def test_containers_on_several_hosts_are_told_apart_by_host(tmp_path):
    lines = [f"Nov 21 14:28:58 {host} docker[7]: kafka  | {line}" for line in plain(EVENTS) for host in ("h1", "h2")]
    assert list(copied(tmp_path, lines)[0]) == ["[h1]", "[h2]"]


def test_a_syslog_that_does_not_know_its_host_stays_one(tmp_path):
    lines = [f"<14>1 {STAMP} {host} kafka 4711 - - {line}" for line in plain(EVENTS) for host in ("-", "host")]
    assert copied(tmp_path, lines) == ({}, "")


def test_a_line_before_which_no_node_stands_belongs_to_that_of_the_line_before(tmp_path):
    lines = ["Attaching to kafka-0, kafka-1", *[f"{node}  | {line}" for line in plain(EVENTS) for node in NODES[:2]]]
    found, _ = copied(tmp_path, [*lines, "kafka-1 exited with code 1", "kafka-0  | bye"])
    assert found["[kafka-0]"][0] == "Attaching to kafka-0, kafka-1"
    assert found["[kafka-1]"][-1] == "kafka-1 exited with code 1"
    assert sum(map(len, found.values())) == len(lines) + 2


def test_a_packed_log_is_taken_apart_too(tmp_path):
    lines = [f"{node}  | {line}" for line in plain(EVENTS) for node in NODES]
    packed = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    assert list(copied(tmp_path, lines, content=packed)[0]) == [f"[{node}]" for node in NODES]


def test_bytes_stay_as_they_are(tmp_path):
    lines = [f"{node}  | {line}" for line in plain(EVENTS) for node in NODES]
    log = tmp_path / "all.log"
    log.write_bytes(b"kafka-0  | \xff\xfe\r\nkafka-1  | \x00\n\nkafka-0  | no end")
    with taken_apart({str(log): node_names(lines, ("compose",))}, {}, tmp_path) as found:
        read = [Path(copy).read_bytes() for copy in found.copies.values()]
    assert read == [b"kafka-0  | \xff\xfe\r\nkafka-0  | no end\n", b"kafka-1  | \x00\n\n"]


@pytest.mark.parametrize("before", [each[0] for each in BEFORE.values()], ids=BEFORE)
def test_the_log_of_one_node_stays_one(tmp_path, before):
    assert copied(tmp_path, [before.format("kafka-0") + line for line in plain(EVENTS)]) == ({}, "")


@pytest.mark.parametrize(
    "put",
    [
        lambda second, line: f"Nov 21 14:28:{second:02} {line}",  # ts
        lambda second, line: f"Sat Nov 21 14:28:{second:02} {line}",
        lambda second, line: f"17952713{second:02} {line}",  # ts %s
        lambda second, line: f"2026-11-21T14:28:{second:02}Z {line}",
        lambda second, line: f"Nov 21 14:28:{second:02} host kafka[{second}]: {line}",  # a node that was started again
        lambda _, line: line,
    ],
)
def test_a_time_before_each_line_is_no_node(tmp_path, put):
    lines = plain(EVENTS * 4)
    assert copied(tmp_path, [put(number % 60, line) for number, line in enumerate(lines)]) == ({}, "")


def test_so_many_nodes_as_nobody_has_are_left_in_one_log_with_a_sentence(tmp_path):
    lines = [f"kafka-{number}  | {line}" for number in range(MOST_NODES + 1) for line in plain(EVENTS)[:1]]
    assert copied(tmp_path, lines) == ({}, f"more than {MOST_NODES} are named")
    assert len(copied(tmp_path, lines[:-1])[0]) == MOST_NODES


@pytest.mark.parametrize(
    ("lines", "most", "why"),
    [
        ([f"kafka-{number % 2}  | {'x' * 99}" for number in range(99)], 2_000, "more than 2000 bytes"),
        ([f"kafka-{'9' * 500 * (number % 2)}  | x" for number in range(9)], apart.MOST, "more than 400 characters"),
    ],
)
def test_what_is_too_much_is_left_in_one_log_with_a_sentence(tmp_path, lines, most, why):
    found, said = copied(tmp_path, lines, node_names(lines, ("compose",)), most)
    assert found == {}
    assert why in said


def test_a_line_that_cannot_be_held_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(apart, "_AT_ONCE", 50)
    monkeypatch.setattr(apart, "_LONGEST_LINE", 1000)
    lines = [f"{node}  | {line}" for line in plain(EVENTS) for node in NODES]
    assert "a line of it has more than" in copied(tmp_path, [*lines, json.dumps("x" * 5000)])[1]


@pytest.mark.parametrize("piece", [300, 1000, apart._AT_ONCE])
@pytest.mark.parametrize("before", [each[0] for each in BEFORE.values()], ids=BEFORE)
def test_a_node_is_found_wherever_it_begins(tmp_path, monkeypatch, before, piece):
    monkeypatch.setattr(apart, "_AT_ONCE", piece)
    lines = [before.format("kafka-0") + line for line in plain(EVENTS * 20)]
    assert len(copied(tmp_path, [*lines, before.format("kafka-1") + "x", *lines])[0]) == 2
    assert len(copied(tmp_path, [*lines, before.format("kafka-1") + "x"])[0]) == 2


def test_a_service_that_logs_otherwise_is_told_apart_from_a_node(tmp_path):
    lines = [f"kafka-0  | {line}" for line in plain(EVENTS)] + ["init  | waiting for kafka-0"] * 20
    assert list(copied(tmp_path, lines)[0]) == ["[kafka-0]", "[init]"]
