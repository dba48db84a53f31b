"""A ZooKeeper of a Kafka cluster as a client's requests see it, and what is planned of it."""

import json
from collections.abc import Callable
from contextlib import contextmanager

from disks_sample import X, Z

from harness.model.topic_repair import Choice, RepairPlan, TopicRepair
from harness.stages import topic_id_repair as stage
from harness.topicids.zookeeper import ZooKeeper
from harness.topicids.zookeeper_writes import WritableZooKeeper


class Answer:
    """What a request comes to, when it is waited for."""

    def __init__(self, find: Callable[[], object]) -> None:
        self.find = find

    def get(self, timeout: float) -> object:
        assert timeout > 0, "no request is waited for without end"
        return self.find()


class Ensemble:
    """A client of a ZooKeeper whose controller reads every id when it is elected, and makes one where there is none."""

    def __init__(self, **topics: str) -> None:
        self.nodes = {f"/brokers/topics/{name}": (node(topic_id), 0) for name, topic_id in topics.items()}
        self.nodes |= {"/controller": (b'{"brokerid":1}', 0), "/controller_epoch": (b"5", 0)}
        self.nodes |= {"/cluster/id": (b'{"version":"1","id":"c1"}', 0)}
        self.did: list[str] = []
        self.before_set = self.after_set = self.before_delete = lambda _: None

    def get_async(self, path: str) -> Answer:
        return Answer(lambda: self.get(path))

    def get_children_async(self, path: str) -> Answer:
        return Answer(lambda: self.children(path))

    def sync_async(self, path: str) -> Answer:
        return Answer(lambda: self.did.append(f"sync {path}"))

    def set_async(self, path: str, data: bytes, version: int) -> Answer:
        return Answer(lambda: self.set(path, data, version))

    def delete_async(self, path: str) -> Answer:
        return Answer(lambda: self.delete(path))

    def get(self, path: str):
        from kazoo.exceptions import NoNodeError

        if path not in self.nodes or self.nodes[path][0] is None:
            raise NoNodeError
        data, version = self.nodes[path]
        return data, type("Stat", (), {"version": version, "ctime": 0})()

    def children(self, path: str) -> list[str]:
        return sorted({each[len(path) + 1 :].split("/")[0] for each in self.nodes if each.startswith(f"{path}/")})

    def set(self, path: str, data: bytes, version: int) -> None:
        from kazoo.exceptions import BadVersionError

        self.before_set(path)
        if self.nodes[path][1] != version:
            raise BadVersionError
        self.put(path, data)
        self.did.append(f"set {path}")
        self.after_set(path)

    def put(self, path: str, data: bytes) -> None:
        self.nodes[path] = (data, self.nodes.get(path, (b"", -1))[1] + 1)

    def delete(self, path: str) -> None:
        self.before_delete(path)
        self.did.append(f"delete {path}")
        self.put("/controller_epoch", str(int(self.nodes["/controller_epoch"][0]) + 1).encode())
        for name in self.children("/brokers/topics"):
            if not self.id_of(name):
                self.put(f"/brokers/topics/{name}", node(Z))

    def id_of(self, name: str) -> str:
        return json.loads(self.nodes[f"/brokers/topics/{name}"][0]).get("topic_id", "")

    def stop(self) -> None: ...

    close = stop


def node(topic_id: str, **partitions: list[int]) -> bytes:
    named = {"version": 3, "topic_id": topic_id} if topic_id else {"version": 1}
    more = {number.removeprefix("p"): brokers for number, brokers in partitions.items()}
    return json.dumps({**named, "partitions": {"0": [1], **more}}).encode()


def plan(back: str = X, **in_zookeeper: str) -> RepairPlan:
    repairs = (TopicRepair(name, Choice.PUT_BACK, each, (back,), (), {0: (1,)}) for name, each in in_zookeeper.items())
    return RepairPlan("zk:2181", "c1", (1,), (), tuple(repairs), ())


def connect_to(ensemble: Ensemble, monkeypatch) -> None:
    @contextmanager
    def writing(connect: str, security: object):
        yield WritableZooKeeper(ensemble, connect)

    @contextmanager
    def reading(connect: str, security: object, *, current: bool = False):
        assert current
        yield ZooKeeper(ensemble, connect)

    monkeypatch.setattr(stage, "connected_to_write", writing)
    monkeypatch.setattr(stage, "connected", reading)
