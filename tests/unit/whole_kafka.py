"""An unpacked Kafka of small jars, whole by its modules: what `--dist` takes."""

from pathlib import Path

from harness.building.jars import write_jar
from harness.kafka.completeness import known_modules
from harness.kafka.distribution import VERSION_ENTRY

SCALA = "2.13"


def whole_kafka(folder: Path, version: str = "3.9.1", scala: str = SCALA) -> Path:
    """Make libs/ with every module that a broker needs, each naming its version, and return the folder."""
    entries = {VERSION_ENTRY: f"version={version}\n".encode()}
    for module in known_modules("3.9.1").needed:
        name = f"kafka_{scala}" if module == "kafka" else module
        write_jar(entries, folder / "libs" / f"{name}-{version}.jar")
    write_jar({"x": b""}, folder / "libs" / f"scala-library-{scala}.15.jar")
    write_jar({"x": b""}, folder / "libs" / "jetty-9.4.jar")
    return folder
