"""Data directories of brokers as Kafka writes them, and ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

V = "ozTkTKQ4Q5mIIR8HUQOlvQ"
X = "9ZBgsF2dQGqzrdIIPvmKjA"
Y = "hQ1lhUIiT3Wm5nlIkXDTyQ"
Z = "Vb1sVo9MQ6qUlkIuG8UUsw"


def metadata(topic_id: str, version: int = 0) -> str:
    return f"version: {version}\ntopic_id: {topic_id}\n"


def broker_disk(
    folder: Path, broker: int, partitions: Mapping[str, str | None] | Iterable[str] = (), cluster: str = "c1"
) -> Path:
    """Make a data directory: partitions by the names of their folders, with their ids; None for no file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "meta.properties").write_text(f"#\nversion=0\nbroker.id={broker}\ncluster.id={cluster}\n")
    named = partitions if isinstance(partitions, Mapping) else dict.fromkeys(partitions, X)
    for name, topic_id in named.items():
        (folder / name).mkdir()
        if topic_id is not None:
            (folder / name / "partition.metadata").write_text(metadata(topic_id))
    return folder


def properties_of(disk: Path, broker: int, *more: str) -> Path:
    """Write the server.properties of a broker with one data directory, and return its path."""
    path = disk.parent / f"server-{broker}.properties"
    path.write_text("\n".join([f"broker.id={broker}", "zookeeper.connect=zk:2181", f"log.dirs={disk}", *more, ""]))
    return path


def written_at(disk: Path, name: str, seconds: float) -> None:
    os.utime(disk / name / "partition.metadata", (seconds, seconds))
