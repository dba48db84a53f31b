"""What `harness topic-ids check` costs on a large broker: 100,000 directories of 10,000 topics, and a real ZooKeeper.

python benchmarks/topic_ids.py [TOPICS]

A ZooKeeper server of 3.9.1's own jars gets the nodes of so many topics (10,000) with ten partitions each, the disk of
one broker a directory for every partition; one in a thousand topics has another id in ZooKeeper for the last check.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "live"))
from test_topic_ids_live import disk, fill, topic_json
from zookeeper_server import writer, zookeeper_server

from harness.base.kafka_id import kafka_id
from harness.toolbox.toolbox import local_toolbox

PARTITIONS = 10


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    ids = {f"topic-{number}": kafka_id((number + 1).to_bytes(16)) for number in range(count)}
    with (
        tempfile.TemporaryDirectory() as place,
        zookeeper_server("3.9.1", local_toolbox(), Path(place, "zk")) as server,
    ):
        fill(server, {name: topic_json(topic_id, PARTITIONS) for name, topic_id in ids.items()})
        folders = {f"{name}-{each}": topic_id for name, topic_id in ids.items() for each in range(PARTITIONS)}
        data, export = disk(Path(place, "data"), folders), Path(place, "broker-1.jsonl")
        measured("disk and ZooKeeper", "--data", data, "--zookeeper", server)
        measured("disk to an export", "--data", data, "--export", export)
        measured("export and ZooKeeper", "--merge", export, "--zookeeper", server)
        with writer(server) as client:
            for name in list(ids)[:: count // 10]:
                client.set(f"/brokers/topics/{name}", topic_json(kafka_id(os.urandom(16)), PARTITIONS))
        measured("disk and ZooKeeper, ten topics differ", "--data", data, "--zookeeper", server)


def measured(name: str, *words: object) -> None:
    """Run a check, and print what it took and said."""
    began = time.monotonic()
    command = [sys.executable, "-m", "harness", "topic-ids", "check", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = process.stdout.read() if process.stdout else ""
    _, _, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    print(f"{name}: {seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} CPU s, {used.ru_maxrss / 1024:.0f} MB")
    print(f"  {said.strip().splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
