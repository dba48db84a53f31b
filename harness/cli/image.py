"""`harness image`: what container builds are made in."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import common
from harness.cli.helptext import help_text

HostBind = Annotated[
    bool, typer.Option("--host-bind", help="Quickest: an empty image into which this host's own /usr is bound.")
]
Pull = Annotated[str, typer.Option("--pull", help="Pull this image instead; it has Gradle and a JDK.")]

_BUILD_HELP = help_text(
    "Make an image of this host's distribution with Gradle and a JDK, without a registry.",
    examples=(
        ("harness image build", "of packages of this host's distribution"),
        ("harness image build --host-bind", "within seconds, of this host's own /usr"),
    ),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    image = typer.Typer(no_args_is_help=True, help="Images for builds in containers: build, list, remove.")
    image.command("build", help=_BUILD_HELP)(build)
    image.command("list")(list_images)
    image.command("remove")(remove)
    app.add_typer(image, name="image")


def build(host_bind: HostBind = False, pull: Pull = "") -> int:
    """Make an image."""
    from harness.base.errors import HarnessError
    from harness.building.containers.debian import make_image
    from harness.building.containers.gradle import open_workshop
    from harness.building.containers.hostbind import bind_host
    from harness.containers.engine import reach_engine, sweep
    from harness.containers.images import pull_image

    if host_bind and pull:
        raise HarnessError("--host-bind and --pull name two different images.", "Give one of them.")
    reporter, differs = common.reporter(), list[str]()
    reporter.stage("making an image to build in")
    with reach_engine() as engine, tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as scratch:
        sweep(engine)
        if pull:
            image = pull_image(engine, pull, reporter.report)
        elif host_bind:
            image = bind_host(engine, Path(scratch))
        else:
            image, differs = make_image(engine, reporter.report)
        shop = open_workshop(engine, image, reporter.report)
    for sentence in differs:
        reporter.report(f"note: {sentence}")
    common.console().print(f"{image.name}: Gradle {shop.gradle}, Java {shop.java}, {image.content}")
    return 0


def list_images() -> int:
    """List the images of ours that the engine has; builds take the first."""
    from harness.containers.engine import reach_engine
    from harness.containers.images import our_images

    with reach_engine() as engine:
        images = our_images(engine)
    for image in images:
        packages = f", {len(image.packages)} packages" if image.packages else ""
        common.console().print(f"{image.name}  {image.size / 1e6:.0f} MB{packages}  {image.content}")
    if not images:
        common.console().print("There is none; `harness image build` makes one.")
    return 0


def remove() -> int:
    """Remove all images of ours from the engine."""
    from harness.containers.engine import reach_engine
    from harness.containers.images import remove_images

    with reach_engine() as engine:
        names = remove_images(engine)
    common.console().print(f"removed: {', '.join(names) or 'nothing, there was none'}")
    return 0
