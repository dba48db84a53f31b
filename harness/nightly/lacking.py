"""What a verification of a night needs and this machine lacks, as far as that is seen before any begins."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import HarnessError
from harness.kafka.lock import read_lock
from harness.model.request import NO_CLAIMS, Request


def lacking(request: Request) -> str:
    """Return in a sentence what is not there, empty where nothing is known to lack."""
    claims = Path(request.claims) if request.claims not in ("", NO_CLAIMS) else None
    files = (request.jar, request.dist, request.base_jar, request.base_dist, request.sources, request.config, claims)
    for path in filter(None, (*files, request.java_home)):
        if not path.exists():
            return f"{path} does not exist."
    for version in filter(None, (request.kafka_version, request.base_kafka)):
        try:
            read_lock(version)
        except HarnessError as error:
            return error.message
    return ""
