"""The monitor of the metadata logs: when it reads, what it reports, and what it keeps as evidence."""

from types import SimpleNamespace

import pytest
from log_bytes import batch, segment, voters

from harness.base.errors import HarnessError
from harness.cluster.node import NodeState
from harness.cluster.probes import Quorum
from harness.cluster.watch import Look
from harness.model.events import MetadataLogsRead, Noted
from harness.model.incidents import Incident, IncidentKind
from harness.rundir.parts import RunFolder
from harness.scenario.monitors import metadata_logs
from harness.scenario.monitors.metadata_logs import MetadataLogs
from harness.scenario.verbs import monitors_of_every_run

PATH = "runs/turn2/stock/1"
SEGMENT = "00000000000000000000.log"
COMMITTED = ((1, [b"a"]), (1, [b"b"]), (1, [b"c"]))


class Record:
    """What the monitor writes down."""

    def __init__(self, root):
        self.folder = RunFolder(root, PATH)
        self.events, self.incidents, self.evidence = [], [], []

    def write(self, event):
        self.events.append(event)
        return len(self.events)

    def report(self, incident, line=0):
        self.incidents.append((incident, line))

    def show(self, *evidence):
        self.evidence += evidence


class DiskNode:
    """A node whose metadata log lies on a disk."""

    def __init__(self, number, folder, data):
        self.id, self.state = number, NodeState.READY
        self.metadata_log = folder / str(number) / "data" / "__cluster_metadata-0"
        self.metadata_log.mkdir(parents=True)
        self.dumped = []
        self.format()
        self.write(data)

    @property
    def is_alive(self):
        return self.state in (NodeState.STARTING, NodeState.READY)

    def format(self):
        properties = self.metadata_log / "../meta.properties"
        properties.unlink(missing_ok=True)
        properties.write_text("")

    def write(self, data):
        (self.metadata_log / SEGMENT).write_bytes(data)

    def dump_metadata_log(self, segments, folder):
        self.dumped += [path.relative_to(folder).as_posix() for path in segments]
        return "".join(f"Dumping {name}\noffset: 1 NO_OP_RECORD\n" for name in self.dumped)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(metadata_logs, "_APART_SECONDS", 0)


@pytest.fixture
def record(tmp_path):
    return Record(tmp_path)


@pytest.fixture
def nodes(record):
    return [DiskNode(number, record.folder.nodes, segment(*COMMITTED)) for number in range(3)]


@pytest.fixture
def watching(record, nodes):
    """Return the monitor of a cluster whose leader has called everything committed."""
    monitor = MetadataLogs(record, SimpleNamespace(nodes={node.id: node for node in nodes}))
    monitor.on_look(look(3), 1)
    return monitor


def look(high_watermark, epoch=1):
    return Look(1.0, Quorum(0, epoch, high_watermark, dict.fromkeys(range(3), 3), leaders=((epoch, 0),)), {})


def names(record):
    return [incident.name for incident, _ in record.incidents]


def test_every_run_is_watched_by_it():
    assert MetadataLogs in monitors_of_every_run()


def test_what_was_read_after_a_fault_is_journaled_and_breaks_nothing(record, watching):
    watching.after_fault()
    assert record.events == [MetadataLogsRead(3, {0: 0, 1: 0, 2: 0}, {0: 3, 1: 3, 2: 3})]
    assert (record.incidents, record.evidence) == ([], [])


def test_voter_sets_that_were_written_to_the_log_are_counted(nodes, watching):
    assert watching.measures() == {"voter_sets_written": 0}
    for node in nodes:
        node.write(segment(*COMMITTED) + voters(3, 1) + voters(4, 1))
    watching.after()
    assert watching.measures() == {"voter_sets_written": 2}


def test_what_is_broken_is_reported_by_the_name_of_the_promise(record, nodes, watching):
    watching.after_fault()
    nodes[1].write(segment(*COMMITTED[:1]))
    watching.after_fault()
    reason = "node 1 had 1 of epoch 1 (CRC "
    ((incident, line),) = record.incidents
    assert (incident.kind, incident.name) == (IncidentKind.INVARIANT_BROKEN, "committed_stays")
    assert incident.reason.startswith(reason)
    assert record.events[line - 1] == Noted(f"committed_stays: {incident.reason}")


def test_what_is_broken_in_one_reading_and_not_in_the_next_is_not_reported(record, nodes, watching, monkeypatch):
    watching.after_fault()
    nodes[1].write(segment(*COMMITTED[:1]))
    monkeypatch.setattr(metadata_logs.time, "sleep", lambda _: nodes[1].write(segment(*COMMITTED)))
    watching.after_fault()
    assert record.incidents == []


def test_each_promise_is_reported_once(record, nodes, watching):
    watching.after_fault()
    nodes[1].write(segment(*COMMITTED[:1]))
    watching.after_fault()
    watching.after_fault()
    watching.after()
    assert names(record) == ["committed_stays"]


def entered(watching, node, *states):
    for node.state in states:
        watching.on_node(node, 1)


def test_a_disk_that_was_wiped_before_the_node_was_started_is_not_missed(record, nodes, watching):
    for node in nodes[1:]:
        entered(watching, node, NodeState.READY, NodeState.KILLED)
        node.format()
        node.write(b"")
        entered(watching, node, NodeState.STARTING, NodeState.READY)
    watching.after_fault()
    assert record.incidents == []


@pytest.mark.parametrize("when", [NodeState.STARTING, NodeState.READY])
def test_what_a_node_that_runs_writes_anew_excuses_nothing_that_it_loses(record, nodes, watching, when):
    watching.after_fault()
    for node in nodes[1:]:
        entered(watching, node, NodeState.READY, NodeState.STOPPED, when)
        node.format()
        node.write(b"")
        entered(watching, node, NodeState.READY)
    watching.after_fault()
    assert names(record) == ["committed_stays"]


def test_half_a_batch_at_the_end_is_damage_where_a_node_ended_in_order_and_not_where_it_was_killed(
    record, nodes, watching
):
    nodes[1].state, nodes[2].state = NodeState.STOPPED, NodeState.KILLED
    for node in nodes[1:]:
        node.write(segment(*COMMITTED) + batch(3, 1, [b"d"])[:-1])
    watching.after()
    assert [
        (name, incident.reason[:31]) for name, (incident, _) in zip(names(record), record.incidents, strict=True)
    ] == [("metadata_log_whole", "the metadata log of node 1 is d")]


def test_the_batches_around_what_was_found_are_kept_and_decoded_when_all_nodes_have_ended(record, nodes, watching):
    nodes[2].write(segment(*COMMITTED[:1], (1, [b"other"])))
    watching.after_fault()
    kept = [f"metadata_logs_agree/{node}/{SEGMENT}" for node in (0, 2)]
    assert (
        sorted(
            path.relative_to(record.folder.metadata_logs).as_posix()
            for path in record.folder.metadata_logs.rglob("*.log")
        )
        == kept
    )
    nodes[2].write(segment(*COMMITTED))  # what was found stays as it was
    assert record.evidence == []
    watching.after()
    assert nodes[0].dumped == kept
    (shown,) = record.evidence
    assert (shown.path, shown.line) == (f"{PATH}/metadata-logs/decoded.txt", 1)
    assert shown.excerpt == "metadata_logs_agree: the records around offset 1, decoded by Kafka's DumpLogSegments"
    assert (record.folder.root / shown.path).read_text().startswith(f"Dumping {kept[0]}\n")


def test_damage_is_kept_as_it_is_and_each_promise_has_its_line_of_what_was_decoded(record, nodes, watching):
    damaged = bytearray(segment(*COMMITTED))
    damaged[-1] ^= 1
    nodes[1].write(bytes(damaged))
    nodes[2].write(segment(*COMMITTED[:1], (1, [b"other"])))
    watching.after()
    assert names(record) == ["metadata_log_whole", "metadata_logs_agree", "committed_stays"]
    assert (record.folder.metadata_logs / "metadata_log_whole" / "1" / SEGMENT).read_bytes() == damaged
    assert [(shown.line, shown.excerpt.partition(":")[0]) for shown in record.evidence] == [
        (7, "metadata_log_whole"),
        (9, "metadata_logs_agree"),
        (1, "committed_stays"),
    ]


def test_that_kafkas_tool_could_not_decode_it_is_noted(record, nodes, watching):
    def fails(*_):
        raise HarnessError("no tool")

    nodes[0].dump_metadata_log = fails
    nodes[2].write(segment(*COMMITTED[:1], (1, [b"other"])))
    watching.after()
    assert names(record) == ["metadata_logs_agree"]
    assert record.events[-1] == Noted("metadata logs could not be decoded: no tool")
    assert record.evidence == []


def test_nothing_is_decoded_where_nothing_was_found(record, nodes, watching):
    watching.after()
    assert (nodes[0].dumped, record.folder.metadata_logs.exists()) == ([], False)


def test_a_high_watermark_that_falls_is_reported_with_the_look(record, watching):
    watching.on_look(look(2), 7)
    ((incident, line),) = record.incidents
    reason = "the high watermark fell: node 0, leader of epoch 1, says 2 after 3"
    assert (incident, line) == (Incident(IncidentKind.INVARIANT_BROKEN, "high_watermark_never_falls", reason), 7)
