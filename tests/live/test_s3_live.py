"""The log diff on an object store: Hadoop's own connector, and an S3 server on loopback."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import boto3
import pyspark
import pytest
from moto.server import ThreadedMotoServer

from harness.base.json import from_json
from harness.toolbox.lockfile import Artifact
from harness.toolbox.toolbox import local_toolbox

pytestmark = pytest.mark.live
KEYS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "nothing"}
LOGS = {
    "before/logs/0.log": ["Leader é"] * 9,
    "before/logs/deep/1.log.gz": [f"fetched {n}" for n in range(99)],
    "after/logs/0.log": ["Follower é"] * 9,
    "after/logs/deep/1.log.gz": [f"fetched {n}" for n in range(990)],
}


@pytest.fixture(scope="module")
def connector() -> str:
    """Return hadoop-aws of PySpark's Hadoop and, of the SDK that it needs, the parts for S3: 13 MB instead of 690."""
    locked = from_json(tuple[Artifact, ...], (Path(__file__).parent / "s3a-connector.json").read_bytes())
    return ",".join(map(str, local_toolbox().downloads.fetch_all(locked)))


@pytest.fixture(scope="module")
def endpoint():
    """Yield the address of a server with the logs in the bucket `nightly`."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    try:
        address = "http://{}:{}".format(*server.get_host_and_port())
        yield address
    finally:
        server.stop()


@pytest.fixture
def here(tmp_path, endpoint, monkeypatch) -> Path:
    """Return a folder with the logs that are in the bucket too."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    s3.create_bucket(Bucket="nightly")
    for name, messages in LOGS.items():
        lines = "".join(f"[2026-11-21 14:28:58,949] INFO {text} (a.B)\n" for text in messages).encode()
        data = gzip.compress(lines) if name.endswith(".gz") else lines
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
        s3.put_object(Bucket="nightly", Key=name, Body=data)
    return tmp_path


def diff(arguments, folder: Path, java_home: Path, connector: str, endpoint: str) -> subprocess.CompletedProcess[str]:
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    main = Path(sys.modules["harness"].__file__).parent / "__main__.py"
    s3a = {"endpoint": endpoint, "endpoint.region": "us-east-1", "path.style.access": "true", "attempts.maximum": "1"}
    settings = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    settings |= {f"spark.hadoop.fs.s3a.{key}": value for key, value in s3a.items()}
    options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    return subprocess.run(
        [submit, "--master", "local[2]", "--jars", connector, *options, main, "diff", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "JAVA_HOME": str(java_home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(folder),
            "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={folder}",
            "PYSPARK_PYTHON": sys.executable,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_logs_in_a_bucket_are_compared_as_folders_here_are(here, java_home, connector, endpoint):
    done = diff(
        ["s3a://nightly/before/logs", "s3a://nightly/after/logs", "--out", "there"],
        here,
        java_home,
        connector,
        endpoint,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    words = ["diff", "before/logs", "after/logs", "--out", "local"]
    assert subprocess.run([sys.executable, "-m", "harness", *words], cwd=here, check=False).returncode == 0
    there, local = (
        {name: (here / out / name).read_text().replace(prefix, "") for name in ("findings.json", "totals.json")}
        for out, prefix in (("there", "s3a://nightly/"), ("local", f"{here}/"))
    )
    assert there == local
    found = [(f["kind"], f["template"]) for f in json.loads(there["findings.json"])[0]["findings"]]
    assert found == [("rate", "fetched <n>"), ("new", "Follower é"), ("vanished", "Leader é")]
    assert [each["events"] for each in json.loads(there["totals.json"])["files"]] == [9, 99, 9, 990]


def test_a_bucket_that_is_not_there_is_told(here, java_home, connector, endpoint):
    done = diff(["s3a://nightly/before/logs", "s3a://gone/logs"], here, java_home, connector, endpoint)
    assert done.returncode == 2
    assert "could not read s3a://gone/logs" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout
