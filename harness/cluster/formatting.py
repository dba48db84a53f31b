"""Format a node's storage in milliseconds: StorageTool makes one template, every node gets an edited copy.

StorageTool costs a JVM start per node. What differs between nodes is small: `node.id` and `directory.id` in
meta.properties, and the VotersRecord in the bootstrap snapshot of the metadata log (KIP-853). A live test holds
the copy against StorageTool's own result, byte for byte but for the time stamps.
"""

from __future__ import annotations

import io
import os
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_new_batch
from kio.schema.types import BrokerId
from kio.schema.voters_record.v0.data import Endpoint, KRaftVersionFeature, Voter, VotersRecord
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i16, u16

from harness.base.errors import HarnessError
from harness.base.files import move_folder
from harness.base.java_failures import failure_in
from harness.base.kafka_id import kafka_id
from harness.base.locks import scratch
from harness.base.processes import bare_environment, run
from harness.cluster.address import Address
from harness.cluster.config import CONTROLLER_LISTENER, METADATA_LOG, NodeConfig, server_properties

_SNAPSHOT = f"{METADATA_LOG}/00000000000000000000-0000000000.checkpoint"
_BOOTSTRAP = "bootstrap.checkpoint"
_VOTERS_RECORD_KEY = bytes([0, 0, 0, 6])  # version 0, ControlRecordType.KRAFT_VOTERS
_FORMAT_TIMEOUT_SECONDS = 60


class NoStartError(HarnessError):
    """A Kafka of which no node comes up. The message is what is said of it, without its name."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A voter as the quorum knows it: node id, directory id, and controller addresses by the listener's name."""

    node: int
    directory: uuid.UUID
    listeners: Mapping[str, Address]

    @property
    def controller(self) -> Address:
        """Where other nodes reach it."""
        return next(iter(self.listeners.values()))


def kafka_uuid(value: uuid.UUID) -> str:
    """Return Kafka's text form of a UUID: url-safe base64 without padding."""
    return kafka_id(value.bytes)


def new_uuid() -> uuid.UUID:
    """Return a random UUID that Kafka accepts: none of its reserved ids; no leading dash, which reads as an option."""
    while True:
        value = uuid.uuid4()
        if not kafka_uuid(value).startswith("-"):
            return value


def make_template(java: Path, class_path: Sequence[Path], tool: str, into: Path) -> None:
    """Have StorageTool (main class `tool`) format one voter's directory, and keep it as the template.

    Two harnesses may do it at once. Raises NoStartError when the tool fails.
    """
    with scratch(into.parent) as folder:
        directory = folder / "template"
        broker, controller = Address("localhost", 9092), Address("localhost", 9093)  # replaced in every copy
        node = NodeConfig(0, broker, controller, {0: controller})
        voter = Identity(0, new_uuid(), {CONTROLLER_LISTENER: controller})
        format_with_storage_tool(java, class_path, tool, directory, node, new_uuid(), [voter])
        move_folder(directory, into)


def format_with_storage_tool(
    java: Path,
    class_path: Sequence[Path],
    tool: str,
    directory: Path,
    node: NodeConfig,
    cluster: uuid.UUID,
    voters: Sequence[Identity],
) -> None:
    """Format `directory` by Kafka's own tool; an observer (no controller address) gets no initial controllers."""
    properties = directory.with_name(directory.name + ".format.properties")
    properties.write_text(server_properties(node, directory, {}, formatting=True), encoding="utf-8")
    named = ",".join(f"{v.node}@{v.controller}:{kafka_uuid(v.directory)}" for v in voters)
    quorum = ["--no-initial-controllers"] if node.controller is None else ["--initial-controllers", named]
    command = [
        *(str(java), "-XX:TieredStopAtLevel=1", "-cp", os.pathsep.join(map(str, class_path))),
        *(tool, "format", "-t", kafka_uuid(cluster), "-c", str(properties), *quorum),
    ]
    try:
        done = run(command, env=bare_environment(), timeout=_FORMAT_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise HarnessError(
            f"Kafka's StorageTool did not format a node within {_FORMAT_TIMEOUT_SECONDS} s.",
            "Run `harness doctor`: the host may be overloaded or its disk slow.",
        ) from error
    finally:
        properties.unlink()
    if done.returncode != 0:
        cause = failure_in(f"{done.stdout}\n{done.stderr}")
        raise NoStartError(f"its StorageTool cannot format a node (exit {done.returncode}): {cause}.")


def format_from_template(
    template: Path, directory: Path, node: int, own: uuid.UUID, cluster: uuid.UUID, voters: Sequence[Identity]
) -> None:
    """Format `directory` as StorageTool would; `voters` is empty for a node that is not a voter."""
    directory.mkdir(parents=True)
    (directory / "meta.properties").write_text(
        f"#\ncluster.id={kafka_uuid(cluster)}\ndirectory.id={kafka_uuid(own)}\nnode.id={node}\nversion=1\n",
        encoding="utf-8",
    )
    (directory / _BOOTSTRAP).write_bytes((template / _BOOTSTRAP).read_bytes())
    if voters:
        snapshot = directory / _SNAPSHOT
        snapshot.parent.mkdir()
        snapshot.write_bytes(with_voters((template / _SNAPSHOT).read_bytes(), voters))


def with_voters(snapshot: bytes, voters: Sequence[Identity]) -> bytes:
    """Return a bootstrap snapshot with its VotersRecord naming these voters; everything else is kept."""
    out = io.BytesIO()
    offset = 0
    while offset < len(snapshot):
        batch, size = read_batch(snapshot, offset)
        offset += size
        records = tuple(_replaced(record, voters) for record in batch.records)
        write_new_batch(
            out,
            NewRecordBatch(
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                partition_leader_epoch=batch.partition_leader_epoch,
                base_sequence=batch.base_sequence,
                records=records,
                attributes=batch.attributes,
            ),
        )
    return out.getvalue()


def _replaced(record: Record, voters: Sequence[Identity]) -> Record:
    if record.key != _VOTERS_RECORD_KEY or record.value is None:
        return record
    old, _ = entity_reader(VotersRecord)(record.value, 0)
    buffer = io.BytesIO()
    entity_writer(VotersRecord)(buffer, replace(old, voters=tuple(map(_voter, voters))))
    return replace(record, value=buffer.getvalue())


def _voter(identity: Identity) -> Voter:
    return Voter(
        voter_id=BrokerId(identity.node),
        voter_directory_id=identity.directory,
        endpoints=tuple(
            Endpoint(name=name, host=address.host, port=u16(address.port))
            for name, address in identity.listeners.items()
        ),
        k_raft_version_feature=KRaftVersionFeature(min_supported_version=i16(0), max_supported_version=i16(1)),
    )
