"""Records of Kafka's metadata module as bytes, as far as they are about topics."""

import struct


def compact(items: bytes, count: int) -> bytes:
    return bytes([count + 1]) + items


def made(name: str, topic_id: bytes) -> bytes:
    return b"\1\2\0" + compact(name.encode(), len(name)) + topic_id + b"\0"


def placed(topic_id: bytes, partition: int, *brokers: int) -> bytes:
    replicas = compact(struct.pack(f">{len(brokers)}i", *brokers), len(brokers))
    return b"\1\3\0" + struct.pack(">i", partition) + topic_id + replicas


def removed(topic_id: bytes) -> bytes:
    return b"\1\x09\0" + topic_id + b"\0"


def number(value: int) -> bytes:
    return value.to_bytes(16, "big")
