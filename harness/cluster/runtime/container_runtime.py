"""Nodes in containers of this host's engine, each with its own files; they share the host's network."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from docker.errors import APIError
from testcontainers.core.container import DockerContainer

from harness.base.errors import HarnessError
from harness.cluster.runtime.base import Spawn
from harness.cluster.runtime.container_process import ContainerProcess
from harness.cluster.runtime.loopback_runtime import OnLoopback
from harness.containers.engine import ENGINE_ERRORS, GROUP_LABEL, OWNER_LABEL, Engine, reach_engine, remove_group, sweep
from harness.containers.images import Image, image_to_build_in, no_image
from harness.containers.in_use import in_use
from harness.containers.jobs import Mount, docker_mount
from harness.containers.owners import this_process

_T = TypeVar("_T")
_SEPARATORS = re.compile(r"[:=,]")
# The log belongs into the node's folder, and not to the engine; the script itself holds nothing of the command.
_SHELL, _APPENDING = "/bin/sh", ("-c", 'exec "$@" >>"$0" 2>&1')
_SCRATCH = "/tmp"  # noqa: S108 - a container's own, in memory
_MOST_PROCESSES = 4000
_OF_THE_IMAGE = (Path("/"), Path("/usr"))  # whose programs are the image's own


class InContainers(OnLoopback):
    """A runtime (harness.cluster.runtime.base.Runtime) in which every node is a container, on the host's network.

    A container sees the image, what its command line names, to be read only, and the cluster's folder.
    """

    def __init__(self, engine: Engine, image: Image) -> None:
        super().__init__()
        self._engine = engine
        self._image = image
        self._cluster = uuid.uuid4().hex

    def spawner(self, _node: int) -> Spawn:
        """Start commands in containers, from an image and read-only files of this host."""
        return self._spawn

    def _spawn(self, command: Sequence[str], *, cwd: Path, output: Path, env: Mapping[str, str]) -> ContainerProcess:
        command = [str(Path(command[0]).resolve()), *command[1:]]  # /usr/bin/java is a link to where Java is
        mounts = (*self._image.mounts, *(Mount(path, str(path)) for path in named_paths(command, cwd.parent)))
        prepared = DockerContainer(
            self._image.id,
            env=dict(env),
            labels={GROUP_LABEL: self._cluster, OWNER_LABEL: str(this_process())},
            mounts=[docker_mount(each) for each in (*mounts, Mount(cwd.parent, str(cwd.parent), writable=True))],
            user=f"{os.getuid()}:{os.getgid()}",
            working_dir=str(cwd),
            entrypoint=[_SHELL],
            network_mode="host",
            pids_limit=_MOST_PROCESSES,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
        )
        prepared.image = self._image.id  # without the prefix that the library's environment variable puts before names
        prepared.with_tmpfs_mount(_SCRATCH)
        prepared.with_command([*_APPENDING, str(output), *command])
        try:
            with _engine_errors(self._engine):
                container = prepared.start().get_wrapped_container()
                container.reload()
        finally:
            prepared.get_docker_client().client.close()
        return ContainerProcess(container.attrs["State"]["Pid"], lambda: self._exit_status(container.id))

    def _exit_status(self, container: str) -> int:
        with _engine_errors(self._engine):
            return int(self._engine.client.containers.get(container).wait()["StatusCode"])

    def close(self) -> None:
        """Remove every container, and let go of every port. Raises HarnessError when one is left."""
        try:
            remove_group(self._engine, self._cluster)
            with _engine_errors(self._engine):
                chosen = {"label": f"{GROUP_LABEL}={self._cluster}"}
                left = self._engine.client.containers.list(all=True, filters=chosen, ignore_removed=True)
            if left:
                raise HarnessError(f"The engine does not remove {', '.join(each.short_id for each in left)}.")
        finally:
            super().close()


@contextmanager
def containers() -> Iterator[InContainers]:
    """Give a runtime of containers, after those are gone that a killed harness left. Raises HarnessError."""
    with node_engine() as (engine, image), in_use():
        sweep(engine)
        runtime = InContainers(engine, image)
        try:
            yield runtime
        finally:
            runtime.close()


@contextmanager
def node_engine() -> Iterator[tuple[Engine, Image]]:
    """Give the engine and the image that nodes are started from. Raises HarnessError where there is none."""
    with reach_engine() as engine:
        image = image_to_build_in(engine)
        if image is None:
            raise no_image()
        yield engine, image


def named_paths(command: Sequence[str], known: Path) -> list[Path]:
    """Return the files and folders that a command names and a container lacks, Java's whole folder among them.

    Left out is what lies below `known`, which the container has already.
    """
    words = (word for argument in command[1:] for word in _SEPARATORS.split(argument) if word.startswith("/"))
    java = Path(command[0]).parent.parent
    named = [*([] if java in _OF_THE_IMAGE else [java]), *(Path(word) for word in dict.fromkeys(words))]
    return [path for path in named if path.exists() and not path.is_relative_to(known)]


@contextmanager
def _engine_errors(engine: Engine) -> Iterator[None]:
    try:
        yield
    except APIError as error:
        why = str(error.explanation or error)[:300]
        raise HarnessError(f"The container engine does not run a node: {why}.", "Leave --runtime out.") from error
    except ENGINE_ERRORS as error:
        raise HarnessError(
            f"The container engine at {engine.address} stopped.", "Start it again, and --resume."
        ) from error
