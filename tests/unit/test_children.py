"""Every program that the harness starts: it dies with the harness, and sees none of the user's environment."""

import os
import signal
import subprocess
import sys
import time
import uuid
import zipfile
from contextlib import suppress
from pathlib import Path
from threading import Thread

import psutil
import pytest

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment
from harness.building import configdef
from harness.building.builders.ecj import Ecj
from harness.building.builders.javac import Javac
from harness.building.compiling import first_errors
from harness.building.configdef import Probe, read_keys
from harness.cluster import formatting, jvm
from harness.cluster.config import NodeConfig
from harness.cluster.formatting import Identity, format_with_storage_tool
from harness.cluster.jvm import dump_archive
from harness.toolbox.java import JavaRuntime, runtime_at

SITE = str(Path(__file__).parents[2])


def storage_tool(java: JavaRuntime, folder: Path) -> object:
    node, voter = NodeConfig(0, 9092, 9093, {0: 9093}), Identity(0, uuid.uuid4(), {"CONTROLLER": 9093})
    return format_with_storage_tool(
        java.java, [folder / "a.jar"], "a.Tool", folder / "data", node, uuid.uuid4(), [voter]
    )


def class_archive(java: JavaRuntime, folder: Path) -> object:
    (folder / "classes").touch()
    return dump_archive(java.java, [folder / "a.jar"], folder / "classes", folder / "a" / "x.jsa", ())


def config_probe(java: JavaRuntime, folder: Path) -> object:
    jar = folder / "a.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/apache/kafka/raft/QuorumConfig.class", b"")
    return read_keys(Probe(folder, java), jar, [])


def javac(java: JavaRuntime, folder: Path) -> object:
    return Javac(java).compile(folder, ["A.java"], (), folder / "out", 8)


def ecj(java: JavaRuntime, folder: Path) -> object:
    return Ecj(folder / "ecj-1.jar", java).compile(folder, ["A.java"], (), folder / "out", 8)


def version(java: JavaRuntime, folder: Path) -> object:
    return runtime_at(java.home)


STARTERS = {each.__name__: each for each in (storage_tool, class_archive, config_probe, javac, ecj, version)}
starters = pytest.mark.parametrize("name", STARTERS)


def fake_java(home: Path, script: str) -> JavaRuntime:
    for name in ("java", "javac"):
        program = home / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return JavaRuntime(home, "21")


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if path.exists() and path.read_text().endswith("\n"):
            return path.read_text().strip()
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def test_every_program_dies_with_the_harness(tmp_path):
    for name in STARTERS:
        fake_java(tmp_path / name / "home", f"echo $$ > {tmp_path / name}/pid\nexec sleep 60")
    command = [sys.executable, __file__, str(tmp_path)]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": SITE}) as harness:
        try:
            children = {psutil.Process(int(wait_for(tmp_path / name / "pid"))): name for name in STARTERS}
        finally:
            harness.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(children, timeout=10)
    for each in alive:
        each.kill()
    assert [children[each] for each in alive] == []


@starters
def test_a_program_sees_nothing_of_the_users_environment(name, tmp_path, monkeypatch):
    seen = tmp_path / "environment"
    java = fake_java(tmp_path / "home", f"env > {seen}")
    for variable in ("CI_SECRET", "_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVAC_OPTIONS", "CLASSPATH"):
        monkeypatch.setenv(variable, "meddling")
    with suppress(HarnessError):  # the program did nothing that it was started for
        STARTERS[name](java, tmp_path)
    variables = dict(line.split("=", 1) for line in seen.read_text().splitlines())
    assert {key: value for key, value in variables.items() if key not in ("PWD", "SHLVL", "_", "OLDPWD")} == (
        bare_environment()
    )


@pytest.mark.parametrize("name", ["storage_tool", "class_archive", "config_probe", "version"])
def test_a_program_that_hangs_is_reported_in_a_sentence(name, tmp_path, monkeypatch):
    from harness.toolbox import java as java_module

    monkeypatch.setattr(formatting, "_FORMAT_TIMEOUT_SECONDS", 0.3)
    monkeypatch.setattr(jvm, "_ARCHIVE_TIMEOUT_SECONDS", 0.3)
    monkeypatch.setattr(configdef, "_SECONDS", 0.3)
    monkeypatch.setattr(java_module, "_VERSION_TIMEOUT_SECONDS", 0.3)
    with pytest.raises(HarnessError, match=r"within 0\.3 s"):
        STARTERS[name](fake_java(tmp_path / "home", "exec sleep 60"), tmp_path)


def test_a_compiler_that_complains_on_either_output_is_read(tmp_path):
    java = fake_java(tmp_path / "home", "echo one; echo A.java:1: error: two >&2; exit 1")
    made = Javac(java).compile(tmp_path, ["A.java"], (), tmp_path / "out", 8)
    assert (made.succeeded, made.output) == (False, "one\nA.java:1: error: two\n")
    assert first_errors(made.output) == "A.java:1: error: two"


if __name__ == "__main__":
    started = []
    for starter in STARTERS.values():
        folder = Path(sys.argv[1]) / starter.__name__
        started.append(Thread(target=starter, args=(JavaRuntime(folder / "home", "21"), folder)))
        started[-1].start()
    for thread in started:
        thread.join()
