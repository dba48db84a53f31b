"""Kafka's text form of an id of 16 bytes."""

from __future__ import annotations

import base64


def kafka_id(data: bytes) -> str:
    """Return an id as org.apache.kafka.common.Uuid prints it: url-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
