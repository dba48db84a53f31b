"""What may be wrong with a cluster while its topic ids are checked, planned for and repaired: each is a sentence, and
nothing is changed that is not in the journal, with a copy in the backup.

Three brokers have the mix of old and new ids. Check and plan are asked while all run, repair when it is the first one's
turn, which is down.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from disks_sample import X, Y, Z, broker_disk, metadata
from ensemble_sample import Ensemble
from kazoo.exceptions import ConnectionLoss, NoAuthError

from harness.cli import app as cli
from harness.stages import topic_id_plan, topic_id_repair, topic_ids
from harness.topicids.zookeeper import ZooKeeper

BROKERS = (1, 2, 3)
IDS = {"t-0": X, "t-1": Y, "t-2": X, "a-b-1": Z, "a-b-0": None}
FILE = "partition.metadata"


class Cluster:
    """A cluster of disks and nodes, and the commands on it."""

    def __init__(self, folder: Path, run) -> None:
        self.folder, self.run = folder, run
        self.zk = Ensemble()
        self.disks = {broker: self._disk(folder / f"d{broker}", broker) for broker in BROKERS}
        self.zk.put("/brokers/topics/t", topic(Y, 3))
        self.zk.put("/brokers/topics/a-b", topic(Z, 2))
        for broker in BROKERS:
            self.zk.put(f"/brokers/ids/{broker}", b"{}")
        self.zk.put("/controller", b'{"brokerid":2}')
        self.in_sync(1, 2, 3)
        self.configs = {broker: self._config(broker) for broker in BROKERS}
        code, said = self.plan("--out", "plan.json")
        assert code == 1, said

    def stop_first(self) -> None:
        del self.zk.nodes["/brokers/ids/1"]
        self.in_sync(2, 3)

    def _disk(self, folder: Path, broker: int) -> Path:
        disk = broker_disk(folder, broker, IDS)
        (disk / ".lock").touch()
        (disk / "t-0" / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
        (disk / "t-0" / "00000000000000000000.log").write_bytes(b"records")
        return disk

    def _config(self, broker: int) -> Path:
        path = self.folder / f"{broker}.properties"
        path.write_text(f"broker.id={broker}\nzookeeper.connect=zk:2181\nlog.dirs={self.disks[broker]}\n")
        return path

    def in_sync(self, *brokers: int) -> None:
        for number in range(33):
            state = {"leader": brokers[0], "isr": list(brokers)}
            self.zk.put(f"/brokers/topics/t/partitions/{number}/state", json.dumps(state).encode())

    @property
    def every(self) -> list[object]:
        return [word for path in self.configs.values() for word in ("--config", path)]

    def check(self) -> tuple[int, str]:
        return self.run("check", *self.every)

    def plan(self, *more: object) -> tuple[int, str]:
        return self.run("plan", *self.every, *more)

    def repair(self) -> tuple[int, str]:
        return self.run("repair", "plan.json", "--config", self.configs[1], "--backup", "backup", "--apply")

    def rehearse(self) -> tuple[int, str]:
        return self.run("repair", "plan.json", "--config", self.configs[1], "--backup", "backup")

    def restore(self) -> tuple[int, str]:
        return self.run("restore", "backup", "--apply")

    @property
    def own(self) -> Path:
        """The disk of the broker whose turn it is."""
        return self.disks[1]

    @property
    def file(self) -> Path:
        """The first file that it loses."""
        return self.own / "t-0" / FILE

    def state(self) -> tuple[object, object]:
        """Return what stands on every disk, and in ZooKeeper."""
        paths = [path for disk in self.disks.values() for path in sorted(disk.rglob("*"))]
        return {path: seen(path) for path in paths}, dict(self.zk.nodes)

    @property
    def journal(self) -> list[str]:
        path = self.folder / "backup" / "journal.jsonl"
        return [json.loads(line)["to"] for line in path.read_text().splitlines()] if path.exists() else []


def topic(topic_id: str, partitions: int) -> bytes:
    numbers = {str(number): [*BROKERS] for number in range(partitions)}
    return json.dumps({"version": 3, "topic_id": topic_id, "partitions": numbers}).encode()


def seen(path: Path) -> object:
    if path.is_symlink():
        return path.readlink()
    return (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) if path.is_file() else path.is_dir()


@pytest.fixture
def cluster(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    made = []

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["harness", "topic-ids", *map(str, words)])
        code = cli._run()
        out, err = capsys.readouterr()
        said = " ".join((out + err).split())
        assert "internal error" not in said
        return code, said

    @contextmanager
    def connected(connect, security, *, current=False):
        yield ZooKeeper(made[0].zk, connect)

    for stage in (topic_id_plan, topic_id_repair, topic_ids):
        monkeypatch.setattr(stage, "connected", connected)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # other tests see to it that it is called, and this is a busy disk
    made.append(object.__new__(Cluster))
    made[0].patch = monkeypatch.setattr
    made[0].__init__(tmp_path, run)
    return made[0]


def test_all_is_well_and_what_changed_is_in_the_journal_with_a_copy(cluster):
    cluster.stop_first()
    before, nodes = cluster.state()
    code, said = cluster.repair()
    assert (code, said.endswith("2 files of broker 1 deleted; backup has them. Start the broker.")) == (0, True), said
    after, same = cluster.state()
    gone = before.keys() - after.keys()
    assert ({*map(str, gone)}, same) == ({*cluster.journal}, nodes)
    assert gone == {cluster.own / name / FILE for name in ("t-0", "t-2")}
    assert {path: before[path] for path in after} == after
    for path in gone:
        assert (cluster.folder / "backup" / "files" / "0" / path.parent.name / FILE).read_bytes() == before[path][0]
    assert cluster.restore()[0] == 0
    assert cluster.state() == (before, nodes)


def test_a_plan_that_was_written_over_in_the_middle_goes_on_from_the_backup(cluster):
    """Another cannot be made then: who is repaired already is out of sync until the last one is."""
    cluster.stop_first()
    made = (cluster.folder / "plan.json").read_text()
    assert cluster.repair()[0] == 0
    assert cluster.plan("--out", "plan.json")[0] == 3
    assert (cluster.folder / "backup" / "plan.json").read_text() == made


# What is wrong, and what each command says of it


def without_login(cluster):
    def refuse(path):
        if path == "/brokers/topics/t":
            raise NoAuthError
        return really(path)

    really, cluster.zk.get = cluster.zk.get, refuse


def silent(cluster):
    def refuse(*_):
        raise ConnectionLoss

    cluster.zk.get = cluster.zk.children = refuse


def written(name: str, text: str):
    def write(cluster):
        (cluster.own / name / FILE).write_text(text)

    return write


def node(path: str, data: bytes):
    return lambda cluster: cluster.zk.put(path, data)


def link_of_file(cluster):
    cluster.file.rename(cluster.folder / "elsewhere")
    cluster.file.symlink_to(cluster.folder / "elsewhere")


def link_of_folder(cluster):
    (cluster.own / "t-0").rename(cluster.folder / "elsewhere")
    (cluster.own / "t-0").symlink_to(cluster.folder / "elsewhere")


def dead_link(cluster):
    cluster.file.unlink()
    cluster.file.symlink_to("nowhere")


def folder_as_file(cluster):
    cluster.file.unlink()
    cluster.file.mkdir()


def unreadable(name: str):
    def forbid(cluster):
        really, place = os.open, str(cluster.own / name)

        def opened(path, *given, **named):
            if os.fspath(path) == place:
                raise PermissionError(13, "Permission denied", place)
            return really(path, *given, **named)

        cluster.patch(os, "open", opened)

    return forbid


def unlisted(cluster):
    really, place = os.scandir, str(cluster.own)

    def listed(path="."):
        if not isinstance(path, int) and os.fspath(path) == place:
            raise PermissionError(13, "Permission denied", place)
        return really(path)

    cluster.patch(os, "scandir", listed)


def without_identity(cluster):
    (cluster.own / "meta.properties").unlink()


def without_epochs(cluster):
    (cluster.own / "t-0" / "leader-epoch-checkpoint").unlink()


def with_odd_epochs(cluster):
    (cluster.own / "t-0" / "leader-epoch-checkpoint").write_text("0\n0\n\n\n")


def gone_topic(cluster):
    for path in [path for path in cluster.zk.nodes if path.startswith("/brokers/topics/t")]:
        del cluster.zk.nodes[path]


_T_IS_NO_JSON = "Topic t cannot be read in ZooKeeper: its node holds no JSON but “{”."
_NO_EPOCHS = "Broker 1 has 1 partition of topic t with records and without leader epochs that can be read"
_MISMATCH, _UNDECIDED = "Mismatch: restart no broker. ", "Undecided: nothing in 15 directories differs"
# What is wrong; how check ends, and says; how plan ends, and says; what repair says, which ends with 2.
WRONG = {
    "ZooKeeper is silent": (
        silent,
        2,
        "did not answer for /brokers/topics: ",
        2,
        "did not answer for ",
        "did not answer",
    ),
    "it wants a login": (without_login, 2, "refuses access to /brokers/topics/t. Name a file", 2, "refuses", "refuses"),
    "a topic's node is no JSON": (node("/brokers/topics/t", b"{"), 3, _UNDECIDED, 3, _T_IS_NO_JSON, _T_IS_NO_JSON),
    "another's is no UTF-8": (
        node("/brokers/topics/u", b"\xff"),
        1,
        "not looked at: Topic u cannot be read",
        3,
        "Topic u cannot",
        "Topic u cannot",
    ),
    "a topic is gone": (
        gone_topic,
        0,
        "Healthy: ",
        0,
        "Nothing to repair.",
        "Topic t is not in ZooKeeper any more: make",
    ),
    "the controller's node is no JSON": (
        node("/controller", b"{"),
        1,
        _MISMATCH,
        2,
        "/controller cannot be read in ZooKeeper",
        "/controller cannot be read",
    ),
    "a partition's state is no object": (
        node("/brokers/topics/t/partitions/0/state", b"[]"),
        1,
        _MISMATCH,
        2,
        "0/state cannot be read",
        "0/state cannot be read",
    ),
    "a file is empty": (
        written("t-0", ""),
        1,
        "it is empty",
        3,
        "cannot be read: it is empty.",
        "“unreadable” (it is empty)",
    ),
    "a file is malformed": (
        written("t-0", "version: 0\ntopic_id: x\n"),
        1,
        "a file that Kafka cannot read",
        3,
        "second line “topic_id: x”",
        "second line",
    ),
    "a file is of a newer version": (
        written("t-0", metadata(X, 1)),
        1,
        "it is of version 1, and known is version 0",
        3,
        "it is of version 1",
        "it is of version 1",
    ),
    "that of a healthy topic with a dash": (
        written("a-b-1", metadata(Z, 1)),
        1,
        "it is of version 1",
        3,
        "Topic a-b has directories that cannot",
        "of topic a-b are",
    ),
    "a file is a link": (link_of_file, 1, _MISMATCH, 3, "Broker 1 has t-0 in ", "has t-0 in "),
    "a directory is a link": (
        link_of_folder,
        1,
        _MISMATCH,
        3,
        "by a link: nothing is deleted through links.",
        "by a link",
    ),
    "a file is a link that leads nowhere": (
        dead_link,
        1,
        "a link that leads nowhere",
        3,
        "leads nowhere",
        "leads nowhere",
    ),
    "a file is a folder": (
        folder_as_file,
        1,
        "it is no regular file",
        3,
        "it is no regular file",
        "it is no regular file",
    ),
    "a file is unreadable": (
        unreadable(f"t-0/{FILE}"),
        1,
        "Permission denied",
        3,
        "Permission denied",
        "Permission denied",
    ),
    "leader epochs are unreadable": (
        unreadable("t-0/leader-epoch-checkpoint"),
        1,
        _MISMATCH,
        3,
        _NO_EPOCHS,
        _NO_EPOCHS,
    ),
    "leader epochs are gone": (without_epochs, 1, _MISMATCH, 3, _NO_EPOCHS, _NO_EPOCHS),
    "leader epochs are odd": (with_odd_epochs, 1, _MISMATCH, 3, _NO_EPOCHS, _NO_EPOCHS),
    "whose disk it is cannot be read": (
        unreadable("meta.properties"),
        1,
        "meta.properties cannot be read: Permission",
        3,
        "meta.properties cannot",
        "names no broker",
    ),
    "a disk does not say whose it is": (
        without_identity,
        1,
        "d1 names no broker",
        3,
        "d1 names no broker",
        "d1 names no broker",
    ),
    "a disk cannot be listed": (
        unlisted,
        2,
        "The data directory ",
        2,
        "d1 cannot be read: Permission denied",
        "d1 cannot be",
    ),
}


@pytest.mark.parametrize(("wrong", "code", "says", "plan_code", "plan_says", "_"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_by_check_and_by_plan(cluster, wrong, code, says, plan_code, plan_says, _):
    wrong(cluster)
    before = cluster.state()
    for (ended, said), (wanted, words) in zip(
        (cluster.check(), cluster.plan()), ((code, says), (plan_code, plan_says)), strict=True
    ):
        assert (ended, words in said) == (wanted, True), said
    assert cluster.state() == before


@pytest.mark.parametrize(("wrong", "says"), [(each[0], each[-1]) for each in WRONG.values()], ids=WRONG)
def test_what_is_wrong_stops_a_repair_before_anything_is_changed(cluster, wrong, says):
    cluster.stop_first()
    wrong(cluster)
    before = cluster.state()
    code, said = cluster.repair()
    assert (code, says in said, "Nothing was changed." in said) == (2, True, True), said
    assert (cluster.state(), cluster.journal, (cluster.folder / "backup").exists()) == (before, [], False)


def test_directories_without_a_topic_and_of_topics_with_dashes_and_dots_are_left_alone(cluster):
    cluster.stop_first()
    broker_disk(cluster.own, 1, {"gone-0": X, "t-7": X, "t-0-0": X, "t.0-0": X, "t": X, "-0": X})
    assert cluster.repair()[0] == 0
    assert cluster.journal == [str(cluster.own / name / FILE) for name in ("t-0", "t-2")]


@contextmanager
def unsearchable(cluster):
    """Have nothing below the broker's disk be opened or looked at, though its names are listed."""
    really = {name: getattr(os, name) for name in ("open", "stat", "lstat")}

    def refused(name):
        def asked(path, *given, **named):
            if not isinstance(path, int) and os.fspath(path).startswith(f"{cluster.own}/"):
                raise PermissionError(13, "Permission denied", path)
            return really[name](path, *given, **named)

        return asked

    for name in really:
        cluster.patch(os, name, refused(name))
    yield
    for name, original in really.items():
        cluster.patch(os, name, original)


@pytest.mark.parametrize(("command", "ends"), [(Cluster.repair, 2), (Cluster.rehearse, 0), (Cluster.restore, 2)])
def test_a_data_directory_that_cannot_be_searched_is_a_sentence(cluster, command, ends):
    cluster.stop_first()
    if command is Cluster.restore:
        assert cluster.repair()[0] == 0
    before = cluster.state()
    with unsearchable(cluster):
        code, said = command(cluster)
    says = f"{cluster.own}/.lock cannot be opened: Permission denied."
    assert (code, says in said, "Nothing was changed." in said) == (ends, True, True), said
    assert cluster.state() == before


def test_a_place_that_cannot_be_looked_at_is_a_sentence(cluster):
    with unsearchable(cluster):
        code, said = cluster.run("check", *cluster.every, "--out", cluster.own / "out")
    assert (code, f"{cluster.own}/out cannot be looked at: Permission denied." in said) == (2, True), said


def test_a_data_directory_behind_one_that_cannot_be_searched_is_a_sentence_when_it_is_restored(cluster):
    cluster.stop_first()
    assert cluster.repair()[0] == 0
    really = os.stat

    def stat(path, *given, **named):
        if not isinstance(path, int) and os.fspath(path) == str(cluster.own):
            raise PermissionError(13, "Permission denied", path)
        return really(path, *given, **named)

    cluster.patch(os, "stat", stat)
    code, said = cluster.restore()
    cluster.patch(os, "stat", really)
    assert (code, f"{cluster.own} cannot be looked at: Permission denied. Nothing was" in said) == (2, True), said


def test_a_refused_repair_leaves_no_lock_where_there_was_none(cluster):
    (cluster.own / ".lock").unlink()
    before = cluster.state()
    code, said = cluster.repair()  # while the broker runs
    assert (code, "Nothing was changed." in said, cluster.state() == before) == (2, True, True), said
    cluster.stop_first()
    assert cluster.repair()[0] == 0


def test_brokers_of_different_ensembles_are_refused_rather_than_the_first_taken(cluster):
    properties = cluster.configs[3]
    properties.write_text(properties.read_text().replace("zk:2181", "other:2181"))
    for code, said in (cluster.check(), cluster.plan()):
        assert (code, "have different ensembles: zk:2181 and other:2181." in said) == (2, True), said
    assert cluster.plan("--zookeeper", "zk:2181")[0] == 1


def test_of_many_files_the_first_are_named_and_how_many_more_there_are(cluster):
    for broker, disk in cluster.disks.items():
        broker_disk(disk, broker, {f"t-{number}": X for number in range(3, 33)})
    cluster.zk.put("/brokers/topics/t", topic(Y, 33))
    cluster.in_sync(1, 2, 3)
    assert cluster.plan("--out", "plan.json")[0] == 1
    cluster.stop_first()
    said = cluster.rehearse()[1]
    assert ("… and 12 more 32 files of broker 1." in said, said.count("delete: ")) == (True, 20), said


# A broker that starts


HOLDS = """import fcntl, sys
lock = open(sys.argv[1], "a")
fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("holds", flush=True)
sys.stdin.read()
"""


def starting_broker(disk: Path) -> subprocess.Popen:
    """Have a process take the lock as a broker does, or end at once where somebody has it."""
    command = [sys.executable, "-I", "-c", HOLDS, str(disk / ".lock")]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_broker_that_runs_without_a_session_is_noticed_by_its_lock(cluster):
    cluster.stop_first()
    before = cluster.state()
    with starting_broker(cluster.own) as broker:
        assert broker.stdout.readline() == "holds\n"
        code, said = cluster.repair()
        broker.communicate()
    assert (code, f"A broker runs on {cluster.own}: it holds .lock. Nothing was changed." in said) == (2, True)
    assert (cluster.state(), cluster.journal) == (before, [])


def test_nothing_is_restored_on_a_broker_that_runs(cluster):
    cluster.stop_first()
    assert cluster.repair()[0] == 0
    before = cluster.state()
    with starting_broker(cluster.own) as broker:
        assert broker.stdout.readline() == "holds\n"
        code, said = cluster.restore()
        broker.communicate()
    assert (code, f"A broker runs on {cluster.own}: it holds .lock. Nothing was changed." in said) == (2, True)
    assert (cluster.state(), len(cluster.journal)) == (before, 2)


def test_a_broker_that_starts_in_the_middle_of_a_repair_ends_at_once(cluster):
    cluster.stop_first()
    really, codes = Path.unlink, []

    def unlink(path, missing_ok=False):
        with starting_broker(cluster.own) as broker:
            broker.communicate()
            codes.append(broker.returncode)
        really(path, missing_ok)

    cluster.patch(Path, "unlink", unlink)
    assert cluster.repair()[0] == 0
    assert (len(codes), 0 in codes) == (2, False)


# Full disks, and repairs that are cut short


def full_from(cluster, call: int, error: BaseException):
    """Have a flush to the disk fail, from the so-many-th on."""
    really, calls = os.fsync, 0

    def fsync(handle):
        nonlocal calls
        calls += 1
        if calls >= call:
            raise error
        really(handle)

    cluster.patch(os, "fsync", fsync)


def accounted(cluster, before) -> None:
    """See that whatever is not as it was is in the journal, with a copy."""
    now, _ = cluster.state()
    for path in (path for path in before if now.get(path) != before[path]):
        assert str(path) in cluster.journal
        assert (cluster.folder / "backup" / "files" / "0" / path.parent.name / FILE).read_bytes() == before[path][0]
    assert {*now} <= {*before}, "nothing is left over"


FULL = OSError(28, "No space left on device")


def flushes(cluster, *commands) -> int:
    """Return how often the last of these commands flushes; the cluster is as it was before them."""
    really, count = os.fsync, []
    for command in commands:
        count.clear()
        cluster.patch(os, "fsync", lambda handle: (count.append(handle), really(handle)))
        assert command()[0] == 0
    cluster.patch(os, "fsync", really)
    most = len(count)
    assert cluster.restore()[0] == 0
    shutil.rmtree(cluster.folder / "backup")
    return most


def test_a_disk_that_is_full_at_any_moment_of_a_repair_ends_it_with_a_sentence_and_it_can_go_on(cluster):
    cluster.stop_first()
    before, _ = cluster.state()
    most, changed, really = flushes(cluster, cluster.repair), set(), os.fsync
    for call in range(1, most + 1):
        full_from(cluster, call, FULL)
        code, said = cluster.repair()
        cluster.patch(os, "fsync", really)
        accounted(cluster, before)
        if code:  # else a file system that does not flush folders, which is none of ours
            nothing = "Nothing was changed." in said
            assert (code, "No space left on device" in said, nothing or "it goes on" in said) == (2, True, True), said
            assert nothing is not bool(cluster.journal)
            changed.add(nothing)
        assert cluster.repair()[0] == 0
        assert cluster.restore()[0] == 0
        assert cluster.state()[0] == before
        shutil.rmtree(cluster.folder / "backup")
    assert changed == {True, False}, "while it is backed up, and while it is deleted"


@pytest.mark.parametrize("what", ["repair", "restore"])
def test_what_is_cut_short_at_any_moment_is_accounted_for_and_the_same_command_ends_it(cluster, what):
    cluster.stop_first()
    before, _ = cluster.state()
    commands = [cluster.repair, cluster.restore][: 1 + (what == "restore")]
    most, really = flushes(cluster, *commands), os.fsync
    for call in range(1, most + 1):
        for command in commands[:-1]:
            assert command()[0] == 0
        full_from(cluster, call, KeyboardInterrupt())
        with contextlib.suppress(KeyboardInterrupt):
            commands[-1]()
        cluster.patch(os, "fsync", really)
        accounted(cluster, before)
        assert commands[-1]()[0] == 0
        assert cluster.restore()[0] == 0
        assert cluster.state()[0] == before
        shutil.rmtree(cluster.folder / "backup")
