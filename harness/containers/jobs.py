"""One command in a container: its log as it comes, how it ended and why, its files, and nothing left behind."""

from __future__ import annotations

import io
import tarfile
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker.errors import APIError, ImageNotFound, NotFound
from docker.types import LogConfig
from docker.types import Mount as DockerMount
from testcontainers.core.container import DockerContainer

from harness.base.errors import HarnessError
from harness.containers.engine import ENGINE_ERRORS, GROUP_LABEL, OWNER_LABEL, Engine, remove_group
from harness.containers.failures import CommandEnd, engine_lost, refused
from harness.containers.in_use import in_use
from harness.containers.line_stream import Lines
from harness.containers.owners import this_process

_MOST_PROCESSES = 1000
_MOST_BYTES = 200 * 2**20  # what is taken out of a container at once


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder of this machine at `target` in the container, to be read only unless said otherwise."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A command in a container of the image with the id `image`.

    `files` are copied in before it starts, by absolute path. `memory` is in bytes, swap included; `timeout` in
    seconds. `user` is `uid:gid`; `connected` gives it the engine's own network, else it has none.
    """

    image: str
    command: tuple[str, ...]
    user: str
    memory: int
    timeout: float
    mounts: tuple[Mount, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    connected: bool = False


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job that has ended, in its container, which is still there."""

    ended: CommandEnd
    engine: Engine
    container: Any

    def take(self, path: str) -> dict[str, bytes]:
        """Return the files at `path` in the container, by their name from the last part of `path` on.

        Raises HarnessError when it is not there or too much.
        """
        with _engine_errors(self.engine):
            try:
                chunks, _ = self.container.get_archive(path)
            except NotFound as error:
                raise HarnessError(f"The build ended well, but made no {path}.", "Look at its own script.") from error
            return _unpacked(chunks, path)


@contextmanager
def run_job(engine: Engine, job: Job, on_line: Callable[[str], None]) -> Iterator[FinishedJob]:
    """Run a job to its end and give it; its container is removed on every way out.

    `on_line` gets each line of output as it comes. Raises HarnessError when a mount's source is missing, or when
    the engine refuses or goes away; how the command ended is no exception.
    """
    _check_sources(job.mounts)
    build = uuid.uuid4().hex
    prepared = _prepared(job, build)
    with in_use():
        try:
            with _engine_errors(engine):
                _check_image(engine, job.image)
                container = prepared.start().get_wrapped_container()
                ended = _watched(container, job, on_line)
                if ended.exit_code > 128 and not engine.answers():  # an engine that ends kills what it runs first
                    raise engine_lost(engine.address)
            yield FinishedJob(ended, engine, container)
        finally:
            remove_group(engine, build)
            prepared.get_docker_client().client.close()


@contextmanager
def _engine_errors(engine: Engine) -> Iterator[None]:
    try:
        yield
    except APIError as error:
        raise refused(str(error.explanation or error)) from error
    except ENGINE_ERRORS as error:
        raise engine_lost(engine.address) from error


def _check_sources(mounts: tuple[Mount, ...]) -> None:
    for mount in mounts:
        if not mount.source.exists():
            raise HarnessError(
                f"{mount.source} is to be mounted into the build's container, and does not exist.",
                "If it is in the cache, run again: it is downloaded anew.",
            )


def _check_image(engine: Engine, image: str) -> None:
    """See that the image is there: the library would ask a registry for a missing one."""
    try:
        engine.client.images.get(image)
    except ImageNotFound as error:
        raise HarnessError(
            f"The image {image} is gone from the engine.", "Run again: the one that replaced it is taken."
        ) from error


def _prepared(job: Job, build: str) -> DockerContainer:
    container = DockerContainer(
        job.image,
        env=dict(job.environment),
        labels={GROUP_LABEL: build, OWNER_LABEL: str(this_process())},
        mounts=[docker_mount(mount) for mount in job.mounts],
        user=job.user,
        mem_limit=job.memory,
        memswap_limit=job.memory,
        pids_limit=_MOST_PROCESSES,
        network_mode="default" if job.connected else "none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        log_config=LogConfig(type=LogConfig.types.JSON),  # the one that every engine can read back
    )
    container.image = job.image  # without the prefix that the library's environment variable puts before names
    container.with_command(list(job.command))
    for path, content in job.files.items():
        container.with_copy_into_container(content, path)
    return container


def docker_mount(mount: Mount) -> DockerMount:
    """Return a mount as the client library wants it."""
    # As a mount, and not as a volume: for that one a missing source becomes an empty folder of root's.
    return DockerMount(mount.target, str(mount.source.absolute()), type="bind", read_only=not mount.writable)


def _watched(container: Any, job: Job, on_line: Callable[[str], None]) -> CommandEnd:
    late = threading.Event()

    def end() -> None:
        late.set()
        with suppress(*ENGINE_ERRORS):
            container.kill()

    watchdog = threading.Timer(job.timeout, end)
    watchdog.daemon = True
    watchdog.start()
    try:
        lines = Lines(on_line)
        with closing(container.logs(stream=True, follow=True)) as stream:
            for chunk in stream:
                lines.feed(chunk)
        status = container.wait()
        container.reload()
    finally:
        watchdog.cancel()
    return CommandEnd(
        exit_code=int(status["StatusCode"]),
        out_of_memory=bool(container.attrs["State"]["OOMKilled"]),
        timed_out=late.is_set(),
        output=lines.text(),
    )


def _unpacked(chunks: Iterator[bytes], path: str) -> dict[str, bytes]:
    content = io.BytesIO()
    for chunk in chunks:
        if content.tell() + len(chunk) > _MOST_BYTES:
            raise HarnessError(
                f"{path} in the container has more than {_MOST_BYTES} bytes.", "No raft jar is so large."
            )
        content.write(chunk)
    content.seek(0)
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=content) as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isreg() else None
            if stream:
                files[member.name] = stream.read()
    return files
