"""A bootstrap snapshot names the voters it is told to, and nothing else of it changes."""

import datetime
import io
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_new_batch
from kio.schema.voters_record.v0.data import VotersRecord
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i8, i16, i32, i64

from harness.cluster import formatting
from harness.cluster.address import Address
from harness.cluster.formatting import (
    Identity,
    NoStartError,
    format_from_template,
    kafka_uuid,
    make_template,
    new_uuid,
    with_voters,
)

ADDRESSES = st.builds(Address, st.sampled_from(["192.0.2.1", "node-0.example"]), st.integers(1, 65535))
LISTENERS = st.dictionaries(st.sampled_from(["CONTROLLER", "SECURE_CONTROLLER"]), ADDRESSES, min_size=1)
IDENTITIES = st.lists(
    st.builds(Identity, st.integers(0, 2**31 - 1), st.uuids(version=4), LISTENERS), min_size=1, max_size=7
)


def record(offset, key, value):
    at = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    return Record(attributes=i8(0), timestamp=at, offset=i64(offset), key=key, value=value, headers=())


def snapshot():
    voters = io.BytesIO()
    entity_writer(VotersRecord)(voters, VotersRecord(version=i16(0), voters=()))
    out = io.BytesIO()
    for records in (
        [record(0, b"\0\0\0\3", b"head"), record(1, b"\0\0\0\6", voters.getvalue())],
        [record(2, b"k", b"v")],
    ):
        batch = NewRecordBatch(
            producer_id=i64(-1),
            producer_epoch=i16(-1),
            base_sequence=i32(-1),
            records=tuple(records),
            attributes=i16(32),
        )
        write_new_batch(out, batch)
    return out.getvalue()


def records_of(data):
    offset, found = 0, []
    while offset < len(data):
        batch, size = read_batch(data, offset)
        offset += size
        found += batch.records
    return found


@given(IDENTITIES)
def test_the_snapshot_names_exactly_the_given_voters(identities):
    _, changed, _ = records_of(with_voters(snapshot(), identities))
    read, _ = entity_reader(VotersRecord)(changed.value, 0)
    named = [
        (int(v.voter_id), v.voter_directory_id, {e.name: Address(e.host, int(e.port)) for e in v.endpoints})
        for v in read.voters
    ]
    assert named == [(each.node, each.directory, each.listeners) for each in identities]


def test_other_records_of_the_snapshot_are_kept():
    before, after = (
        records_of(snapshot()),
        records_of(with_voters(snapshot(), [Identity(1, uuid.uuid4(), {"CONTROLLER": Address("192.0.2.1", 2)})])),
    )
    assert (before[0], before[2]) == (after[0], after[2])


def test_a_node_that_is_no_voter_gets_no_metadata_snapshot(tmp_path):
    template = tmp_path / "template"
    template.mkdir()
    (template / "bootstrap.checkpoint").write_bytes(b"bootstrap")
    directory, cluster = uuid.uuid4(), uuid.uuid4()
    format_from_template(template, tmp_path / "data", 3, directory, cluster, [])
    assert sorted(p.name for p in (tmp_path / "data").iterdir()) == ["bootstrap.checkpoint", "meta.properties"]
    meta = (tmp_path / "data" / "meta.properties").read_text()
    assert f"directory.id={kafka_uuid(directory)}\n" in meta
    assert "node.id=3\n" in meta


def test_new_ids_never_read_as_an_option_of_the_storage_tool():
    assert not any(kafka_uuid(new_uuid()).startswith("-") for _ in range(500))


def test_a_kafka_whose_tool_does_not_run_is_told_by_the_innermost_cause(tmp_path):
    java = tmp_path / "java"
    trace = "Exception in thread main java.lang.ExceptionInInitializerError\nCaused by: java.lang.Error: no x.Y\n\tat z"
    java.write_text(f"#!/bin/sh\necho '{trace}' >&2\nexit 1\n")
    java.chmod(0o755)
    with pytest.raises(NoStartError, match=r"^its StorageTool cannot .* \(exit 1\): java\.lang\.Error: no x\.Y\.$"):
        make_template(java, [], "kafka.tools.StorageTool", tmp_path / "templates" / "key")
    assert list((tmp_path / "templates").iterdir()) == []


def test_a_template_that_two_harnesses_make_at_once_is_there_for_both(tmp_path, monkeypatch):
    place = tmp_path / "templates" / "key"

    def overtaken(java, class_path, tool, directory, *rest):
        for folder, content in ((directory, "mine"), (place, "theirs")):
            folder.mkdir(parents=True)
            (folder / "bootstrap.checkpoint").write_text(content)

    monkeypatch.setattr(formatting, "format_with_storage_tool", overtaken)
    monkeypatch.setattr(type(place), "exists", lambda self: False)  # neither saw the other
    make_template(tmp_path / "java", [], "kafka.tools.StorageTool", place)
    assert (place / "bootstrap.checkpoint").read_text() == "theirs"
    assert [path.name for path in place.parent.iterdir()] == ["key"]
