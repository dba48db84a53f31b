"""`harness pack` and `unpack`: a run directory as one file, to be handed to somebody else."""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.base.locks import owned
from harness.base.text import counted, visible
from harness.cli import common
from harness.cli.helptext import help_text

if TYPE_CHECKING:
    from harness.model.pack import PackManifest

_PACK_HELP = help_text(
    "Put a run directory into one file that has everything needed to open, judge and run it again.",
    "This includes what `--jar`, `--claims`, `--series`, `--scenarios`, `--config`, … named; storage of nodes and "
    "caches are left out. The same folder always gives the same bytes. A night, a log diff, upgrade notes or a "
    "topic-id check is packed in the same way.",
    examples=(
        ("harness pack out/20260101-120000-verify", "writes out/20260101-120000-verify.tar.xz"),
        ("harness pack out/x --out /tmp/for-kim.tar.xz", "somewhere else"),
    ),
)
_UNPACK_HELP = help_text(
    "Unpack what `harness pack` wrote into a folder, and check each file by its SHA-256.",
    "Judging it and writing its report again run nothing that was packed. Its pages stay as they were packed. Running "
    "it again runs its jars and scenarios: do that only if you trust the person who packed it.",
    examples=(
        ("harness unpack 20260101-120000-verify.tar.xz", "into out/20260101-120000-verify"),
        ("harness unpack for-me.tar.xz --out seen && harness open seen", "into a folder of your choice"),
    ),
)
PackOut = Annotated[
    Path | None,
    typer.Option("--out", help="The file to write; `RUN.tar.xz` beside the folder if not given.", show_default=False),
]
UnpackOut = Annotated[
    Path | None,
    typer.Option("--out", help="Folder to make; `out/` and the name it had if not given.", show_default=False),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("pack", help=_PACK_HELP)(pack)
    app.command("unpack", help=_UNPACK_HELP)(unpack)


def pack(
    run_dir: Annotated[
        Path, typer.Argument(help="A run directory, a night, or what another command wrote by --out.", metavar="RUN")
    ],
    out: PackOut = None,
) -> int:
    """Write the file, and say what is in it."""
    from harness.stages.pack import pack as write_pack
    from harness.stages.pack_contents import kind_of

    kind_of(run_dir)
    file = _new_file(run_dir, out)
    common.reporter().stage(f"packing {run_dir}")
    with owned(run_dir) if os.access(run_dir, os.W_OK) else nullcontext():  # nobody works in what cannot be written to
        packed = write_pack(run_dir, file)
    console, manifest = common.console(), packed.manifest
    size = sum(each.size for each in manifest.files)
    console.print(
        Text(f"{manifest.kind} {visible(manifest.name)}: {counted(len(manifest.files), 'file')} of {_size(size)}")
    )
    for why, count in sorted(packed.contents.left_out.items()):
        console.print(Text(f"  left out: {counted(count, 'file')}, {why}", style="dim"))
    for path in packed.contents.outside:
        console.print(Text(f"  from outside of the folder: {visible(path)}"))
    _print_lacks(manifest)
    for key in packed.contents.secrets:
        console.print(Text(f"  it holds the value of {visible(key)}: hand it to those who may know it", style="yellow"))
    console.print(Text(f"{file}  {_size(file.stat().st_size)}"))
    console.print(Text(f"sha256 {sha256_of(file)}"))
    return 0


def unpack(
    pack: Annotated[Path, typer.Argument(help="What `harness pack` wrote.", metavar="FILE")],
    out: UnpackOut = None,
) -> int:
    """Make the folder, and say what can be done with it."""
    from harness.stages.run_again import command_of, packed_series
    from harness.stages.unpack import unpack as make_folder

    folder, manifest = make_folder(pack, lambda manifest: _new_folder(manifest, out))
    console = common.console()
    console.print(
        Text(f"{folder}: {visible(manifest.kind)}, {counted(len(manifest.files), 'file')}, each as its SHA-256 says")
    )
    console.print(Text(f"  open it:      harness open {folder}"))
    if manifest.kind in ("verification", "rollout"):
        console.print(Text(f"  judge it:     harness judge {folder}; harness report {folder}"))
        with suppress(HarnessError):  # what is damaged says so when it is used
            console.print(Text(f"  run it again: {visible(command_of(folder))}"))
            if series := packed_series(folder):
                told = f"that takes {series.name} as your checkout has it; the one that was packed lies in {series}"
                console.print(Text(f"                {visible(told)}"))
    console.print(
        Text("  Whoever packed it wrote its pages, and chose the jars and scenarios that run again.", style="dim")
    )
    _print_lacks(manifest)
    return 0


def _print_lacks(manifest: PackManifest) -> None:
    for lack in manifest.lacks:
        common.console().print(Text(f"  not in it, and wanted to run it again: {visible(lack)}", style="yellow"))


def _new_file(run_dir: Path, out: Path | None) -> Path:
    """Return the file to write, which is not there yet. Raises HarnessError."""
    from harness.model.pack import SUFFIX

    folder = run_dir.resolve()
    file = out or folder.with_name(f"{folder.name}{SUFFIX}")
    if file.exists():
        raise HarnessError(f"{file} is there already.", "Name another by --out, or remove it.")
    if file.resolve().is_relative_to(folder):
        raise HarnessError(f"{file} lies in the folder that is packed.", "Name another by --out.")
    common.folder_to_write_in(file.parent)
    return _short(file)


def _new_folder(manifest: PackManifest, out: Path | None) -> Path:
    place = out or Path("out") / manifest.name
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise HarnessError(f"{place} is there already, and not empty.", "Name another folder by --out.")
    common.folder_to_write_in(place.parent)
    return place


def _short(file: Path) -> Path:
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
