"""All jars in which an operator's files and commands are declared: those of a node, and Connect, Streams and tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.recordfile import RecordFile
from harness.kafka.distribution import Distribution
from harness.kafka.jar_names import jar_name
from harness.kafka.modules_beside import CONNECT_API, CONNECT_RUNTIME, MODULES_BESIDE
from harness.kafka.resolving import pin_module
from harness.toolbox.lockfile import Artifact
from harness.toolbox.toolbox import Toolbox

_BROUGHT = {CONNECT_RUNTIME: (CONNECT_API,)}


@dataclass(frozen=True, slots=True)
class ModulePins:
    """What was fetched beside the lock of a version, and the modules that were not to be had."""

    artifacts: tuple[Artifact, ...] = ()
    missing: tuple[str, ...] = MODULES_BESIDE


@dataclass(frozen=True, slots=True)
class Modules:
    """The jars of a class path on which the modules of a Kafka load, and the modules that are not to be had."""

    jars: tuple[Path, ...]
    missing: tuple[str, ...] = ()

    def without(self, modules: Iterable[str]) -> Modules:
        """Leave out modules: what only one of two Kafkas can be asked is no difference between them."""
        gone = tuple(f"{name}-" for module in modules for name in (module, *_BROUGHT.get(module, ())))
        return replace(self, jars=tuple(jar for jar in self.jars if not jar.name.startswith(gone)))


def modules_of(kafka: Distribution, toolbox: Toolbox) -> Modules:
    """Return all modules of a Kafka: somebody's own has what it has, of a locked release the others are fetched.

    No lock pins these; what came first is kept in the cache, and what was not to be had is tried again.
    """
    if not kafka.is_locked:
        return Modules(kafka.jars, tuple(each for each in MODULES_BESIDE if not _has(kafka, each)))
    kept = RecordFile(
        toolbox.cache / "modules-of-releases" / f"{kafka.version}.json", ModulePins, remedy="Delete the file."
    )
    pins = kept.read_if_exists() or ModulePins()
    if pins.missing and not toolbox.offline:
        pins = _completed(pins, kafka, toolbox)
        kept.write(pins)
    return Modules((*kafka.jars, *toolbox.downloads.fetch_all(pins.artifacts)), pins.missing)


def _has(kafka: Distribution, module: str) -> bool:
    return any((named := jar_name(jar.name)) and named.module == module for jar in kafka.jars)


def _completed(pins: ModulePins, kafka: Distribution, toolbox: Toolbox) -> ModulePins:
    """Fetch the modules that are missing, as far as they are to be had.

    Of Connect's runtime also what it needs, since its classes would not load without; the others load with that.
    """
    present, found, missing = {jar.name for jar in kafka.jars}, list(pins.artifacts), []
    for module in pins.missing:
        have = present | {each.name for each in found}
        try:
            found += pin_module(module, kafka.version, have, toolbox.downloads, alone=module != CONNECT_RUNTIME)
        except HarnessError:
            missing.append(module)
    return ModulePins(tuple(found), tuple(missing))


def scripts_folders(kafkas: Sequence[Distribution]) -> tuple[Path | None, ...]:
    """Return the bin/ of each unpacked Kafka; of none where only the jars of one are there.

    Then the scripts of all are those whose class is in the jars: what bin/ alone shows is no difference.
    """
    folders = tuple(map(_scripts_folder, kafkas))
    return folders if all(folders) else (None,) * len(folders)


def scripts_not_compared(kafkas: Sequence[Distribution]) -> list[str]:
    """Return in a sentence which scripts are not compared, because bin/ of one Kafka is not there and another's is."""
    bare = [each.description for each in kafkas if not _scripts_folder(each)]
    if len(bare) in (0, len(kafkas)):
        return []
    return [f"Of scripts those of Apache's releases alone are compared: of {' and '.join(bare)} only jars are there."]


def _scripts_folder(kafka: Distribution) -> Path | None:
    libraries = kafka.others[0].parent if kafka.others else kafka.raft_jar.parent
    folder = libraries.parent / "bin"
    return folder if libraries.name == "libs" and folder.is_dir() else None
