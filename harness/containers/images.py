"""Images to build in: made on this machine or pulled by name, kept under one name of ours, a tag a kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.errors import APIError, ImageNotFound

from harness.base.errors import HarnessError
from harness.containers.engine import ENGINE_ERRORS, LABEL, Engine
from harness.containers.failures import engine_lost, refused
from harness.containers.jobs import Mount

IMAGE_VARIABLE = "HARNESS_BUILD_IMAGE"
REPOSITORY = "kafka-patch-harness/gradle"
DEBIAN, PULLED, HOST = "debian", "pulled", "host"  # what is best to build with comes first
PACKAGES_LABEL = f"{LABEL}.packages"
MOUNTS_LABEL = f"{LABEL}.mounts"
_MAKE = (
    "Make one with `harness image build`, or quicker, from this host's own files, `harness image build --host-bind`."
)


@dataclass(frozen=True, slots=True)
class Image:
    """An image that the engine has.

    `id` is the engine's and depends on its making; `content` is the digest of the files alone, `sha256:…`, the same
    for the same bytes. `mounts` are what it needs from this host. `packages` are
    `name=version`, where it was made of packages.
    """

    name: str
    id: str
    content: str
    size: int
    mounts: tuple[Mount, ...]
    packages: tuple[str, ...]


def our_name(kind: str) -> str:
    """Return the name of our image of a kind."""
    return f"{REPOSITORY}:{kind}"


def our_images(engine: Engine) -> list[Image]:
    """Return our images that the engine has, the one that is taken first."""
    return [image for kind in (DEBIAN, PULLED, HOST) if (image := find_image(engine, our_name(kind)))]


def image_to_build_in(engine: Engine) -> Image | None:
    """Return the image that $HARNESS_BUILD_IMAGE names, else the best of ours; None where there is none of ours.

    Raises HarnessError when the named one is not there: nothing is pulled unless requested.
    """
    named = os.environ.get(IMAGE_VARIABLE)
    if not named:
        return next(iter(our_images(engine)), None)
    found = find_image(engine, named)
    if not found:
        raise HarnessError(f"The engine has no image {named}, which {IMAGE_VARIABLE} names.", f"Pull it, or: {_MAKE}")
    return found


def no_image() -> HarnessError:
    """Return the sentence for an engine without an image of ours."""
    return HarnessError("The container engine has no image to build in, or to start nodes from.", _MAKE)


def find_image(engine: Engine, name: str) -> Image | None:
    """Return the image called `name`, if the engine has it."""
    try:
        return _image(name, engine.client.images.get(name).attrs)
    except ImageNotFound:
        return None
    except ENGINE_ERRORS as error:
        raise engine_lost(engine.address) from error


def import_image(engine: Engine, tar: Path, kind: str, labels: Mapping[str, str]) -> Image:
    """Have the engine take a tar of files as our image of a kind; an older one of the kind goes away.

    Raises HarnessError when the engine refuses, as on a full disk.
    """
    older = find_image(engine, our_name(kind))
    changes = [f"LABEL {name}={_quoted(value)}" for name, value in {LABEL: kind, **labels}.items()]
    try:
        engine.client.api.import_image_from_file(str(tar), repository=REPOSITORY, tag=kind, changes=changes)
    except APIError as error:
        raise refused(str(error.explanation or error)) from error
    except ENGINE_ERRORS as error:
        raise engine_lost(engine.address) from error
    made = find_image(engine, our_name(kind))
    if made is None:
        raise HarnessError("The container engine took the image and does not have it.", "Look at the engine's log.")
    if older and older.id != made.id:
        _remove(engine, older.id)
    return made


def pull_image(engine: Engine, name: str, on_line: Callable[[str], None]) -> Image:
    """Pull an image because the user said so, and give it our name. Raises HarnessError when it cannot be had."""
    repository, _, tag = name.rpartition(":") if ":" in name.rpartition("/")[2] else (name, "", "latest")
    on_line(f"pulling {repository}:{tag}")
    try:
        pulled = engine.client.images.pull(repository, tag=tag)
        pulled.tag(REPOSITORY, PULLED)
    except ENGINE_ERRORS as error:
        why = str(getattr(error, "explanation", "") or error)[:300]
        raise HarnessError(f"{name} cannot be pulled: {why}", "Check the name and the network.") from error
    return _image(our_name(PULLED), pulled.attrs)


def remove_images(engine: Engine) -> list[str]:
    """Remove our images and return their names. Raises HarnessError when one is in use."""
    names = [image.name for image in our_images(engine)]
    for name in names:
        try:
            engine.client.images.remove(name)
        except APIError as error:
            raise HarnessError(f"{name} cannot be removed: {error.explanation}.", "Wait for builds to end.") from error
    return names


def _remove(engine: Engine, image: str) -> None:
    try:
        engine.client.images.remove(image)
    except ENGINE_ERRORS:
        return  # in use by another build: it is without a name now, and the engine's own pruning takes it


def _image(name: str, attrs: Mapping[str, Any]) -> Image:
    labels = attrs["Config"].get("Labels") or {}
    layers = attrs["RootFS"].get("Layers") or [""]
    return Image(
        name=name,
        id=attrs["Id"],
        content=layers[-1],
        size=int(attrs["Size"]),
        mounts=tuple(Mount(Path(path), path) for path in labels.get(MOUNTS_LABEL, "").split(":") if path),
        packages=tuple(labels.get(PACKAGES_LABEL, "").split()),
    )


def _quoted(value: str) -> str:
    r"""Return a label's value as an image's instructions want it: in quotes, where only \, " and $ act."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'
