"""The container engine: reached with a sentence when it cannot be, and swept of what a killed harness left."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from docker.errors import DockerException
from requests.exceptions import RequestException
from testcontainers.core.config import testcontainers_config
from testcontainers.core.docker_client import DockerClient, get_docker_host
from urllib3.exceptions import HTTPError

from harness.base.errors import HarnessError, NotOnThisHostError
from harness.containers.owners import is_gone, parse_owner, this_process

LABEL = "io.kafka-patch-harness"
GROUP_LABEL = f"{LABEL}.group"
OWNER_LABEL = f"{LABEL}.owner"
# Whatever the client library lets through when an engine refuses, is not there, or goes away meanwhile.
ENGINE_ERRORS = (DockerException, RequestException, HTTPError, OSError)
_DEFAULT_ADDRESS = "unix:///var/run/docker.sock"
_HELP = (
    "Start one or set DOCKER_HOST (`harness doctor` shows more). "
    "--builder javac or ecj, and nodes without --runtime container, need none."
)

# Its reaper is a container of an image that would have to be pulled; ours are swept by label.
testcontainers_config.ryuk_disabled = True


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answers; `client` is docker-py's."""

    client: Any
    address: str

    def version(self) -> str:
        """Return its own version."""
        return str(self.client.version()["Version"])

    def answers(self) -> bool:
        """Whether it is still there."""
        try:
            return bool(self.client.ping())
        except ENGINE_ERRORS:
            return False


@contextmanager
def reach_engine() -> Iterator[Engine]:
    """Give the engine that DOCKER_HOST or Docker's context names.

    Raises NotOnThisHostError where there is none, HarnessError when it cannot be reached.
    """
    address = get_docker_host() or _DEFAULT_ADDRESS
    try:
        _knock(address)
        client = DockerClient().client
    except ENGINE_ERRORS as error:
        kind = HarnessError if may_answer(address) else NotOnThisHostError
        raise kind(why_unreachable(address, error), _HELP) from error
    with closing(client):
        engine = Engine(client, address)
        if not engine.answers():
            raise HarnessError(f"The container engine at {address} does not answer.", _HELP)
        yield engine


def _knock(address: str) -> None:
    """Connect to a local engine's socket and let go: docker-py leaves its own open when nobody answers."""
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(address.removeprefix("unix://"))


def may_answer(address: str) -> bool:
    """Whether there is a socket that this user may use: without one this host has no engine."""
    return not address.startswith("unix://") or os.access(address.removeprefix("unix://"), os.R_OK | os.W_OK)


def why_unreachable(address: str, error: BaseException) -> str:
    """Return the sentence for a failure to reach the engine; the reason lies deep in the chain of causes."""
    causes = list(_chain(error))
    if any(isinstance(cause, PermissionError) for cause in causes):
        return f"You may not use the container engine at {address}: permission denied."
    if any(isinstance(cause, FileNotFoundError) for cause in causes):
        return f"There is no container engine at {address}: the socket does not exist."
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return f"There is no container engine at {address}: nothing listens there."
    return f"The container engine at {address} does not answer: {str(error)[:200]}."


def sweep(engine: Engine) -> list[str]:
    """Remove containers whose harness has ended without removing them; return their short ids."""
    me = this_process()
    swept = []
    for container in engine.client.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True):
        owner = parse_owner(container.labels.get(OWNER_LABEL, ""))
        if owner and is_gone(owner, me):
            with suppress(*ENGINE_ERRORS):  # another harness may sweep at the same time
                container.remove(force=True, v=True)
                swept.append(container.short_id)
    return swept


def remove_group(engine: Engine, group: str) -> None:
    """Remove the containers of a build or cluster, also one whose making was interrupted before its id was known here.

    Says nothing when the engine cannot: an error that led here is the one to report, and the next start sweeps.
    """
    with suppress(*ENGINE_ERRORS):
        chosen = {"label": f"{GROUP_LABEL}={group}"}
        for container in engine.client.containers.list(all=True, filters=chosen, ignore_removed=True):
            with suppress(*ENGINE_ERRORS):
                container.remove(force=True, v=True)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, outermost first."""
    cause: BaseException | None = error
    while cause:
        yield cause
        cause = cause.__cause__ or cause.__context__
