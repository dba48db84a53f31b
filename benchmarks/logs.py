"""CPU seconds of the log pipeline by stage, and of its kernel beside others', on real lines multiplied.

python benchmarks/logs.py [MEGABYTES] [FILES] [SEED]

The lines are those of tests/unit/log-sample (three controllers with brokers and a broker, at DEBUG), over and over,
each time with other digits. CPU seconds are user and system time of this process and all its children.
"""

import gzip
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb
import polars as pl
import psutil
from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig

from harness.logs.blocks import LINES, Source, partials
from harness.logs.events import WHOLE_LOG, Reading
from harness.logs.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.masks import MASKS, template
from harness.logs.pipeline import read
from harness.logs.spark import session

SAMPLE = Path(__file__).resolve().parents[1] / "tests" / "unit" / "log-sample" / "sample.log.gz"
READING = Reading(compile_layout(KAFKA_DEFAULT), (WHOLE_LOG,))
AT_ONCE = 100_000
FEW = 20_000_000  # bytes that the slow ones get


def multiplied(size: int, rng: random.Random) -> bytes:
    """Return at least `size` bytes of the sample's lines, their digits changed from copy to copy but not in dates."""
    lines = gzip.decompress(SAMPLE.read_bytes()).splitlines(keepends=True)
    copies: list[bytes] = []
    while sum(map(len, copies)) < size:
        digits = list(b"23456789")
        rng.shuffle(digits)
        table = bytes.maketrans(b"23456789", bytes(digits))
        copies.append(b"".join(line[:26] + line[26:].translate(table) if line[:1] == b"[" else line for line in lines))
    return b"".join(copies)


def cpu() -> dict[str, float]:
    """Return the CPU seconds used so far by this process, by the JVM and by Spark's Python workers."""
    used = {"driver": sum(psutil.Process().cpu_times()[:2]), "jvm": 0.0, "workers": 0.0}
    for child in psutil.Process().children(recursive=True):
        used["jvm" if child.name() == "java" else "workers"] += sum(child.cpu_times()[:4])
    return used


@contextmanager
def stage(name: str, size: int = 0) -> Iterator[None]:
    """Print what a stage took, and how many megabytes a CPU second if it read some."""
    wall, before = time.monotonic(), cpu()
    yield
    used = {who: seconds - before[who] for who, seconds in cpu().items()}
    parts = "  ".join(f"{who} {seconds:4.1f}" for who, seconds in used.items())
    rate = f"{size / 1e6 / sum(used.values()):6.0f} MB/CPU s" if size else ""
    print(f"{name:34} {sum(used.values()):5.1f} CPU s ({parts}) {time.monotonic() - wall:5.1f} s {rate}", flush=True)


def alone(frames: list[pl.DataFrame]) -> None:
    """Mask every line in Polars alone, with the same masks, and count."""
    for frame in frames:
        lines = frame.select(pl.col("line").cast(pl.String).str.slice(26))
        lines.group_by(template(pl.col("line")).alias("template")).agg(pl.len())


def in_duckdb(path: Path) -> None:
    """Mask every line in DuckDB with the same masks, and count; DuckDB has the same kind of expressions (RE2)."""
    text = "substr(line, 27)"
    for mask in MASKS:
        replacement = re.sub(r"\$\{(\d)\}", r"\\\1", mask.replacement)
        text = f"regexp_replace({text}, {quoted(mask.regex)}, {quoted(replacement)}, 'g')"
    rows = (
        "read_csv(?, columns={'line': 'VARCHAR'}, header=false, delim='\x01', quote='', escape='', auto_detect=false)"
    )
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(f"select {text} as template, count(*) from {rows} group by 1", [str(path)]).fetchall()


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def in_drain(lines: list[str]) -> None:
    miner = TemplateMiner(config=TemplateMinerConfig())
    for line in lines:
        miner.add_log_message(line[26:])


def kernels(root: Path, content: bytes) -> None:
    """Print what the kernel takes beside others, all on one thread and in one run."""
    lines = pl.Series("line", content.splitlines(), dtype=pl.Binary)
    columns = {"file": pl.lit(7, pl.Int64), "block": pl.lit(0, pl.Int64)}
    rows = pl.DataFrame({"line": lines}).with_columns(**columns).select(LINES.names())
    frames = [rows.slice(at, AT_ONCE) for at in range(0, rows.height, AT_ONCE)]
    with stage("kernel", len(content)):
        list(partials(frames, {7: Source("x", READING)}))
    with stage("Polars alone, the same masks", len(content)):
        alone(frames)
    few = content[:FEW]
    (root / "few.txt").write_bytes(few)
    with stage("DuckDB, the same masks", len(few)):
        in_duckdb(root / "few.txt")
    with stage("Drain3", len(few)):
        in_drain(few.decode().splitlines())


def main() -> None:
    megabytes, files, seed = (int(value) for value in (sys.argv[1:] + ["100", "8", "1"][len(sys.argv) - 1 :]))
    content = multiplied(megabytes * 1_000_000 // files, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        kernels(root, content * files)
        names = [f"{number}.log" for number in range(files)]
        for name in names:
            (root / name).write_bytes(content)
        (root / "first.log").write_bytes(content[: content.index(b"\n[", 1000) + 1])
        with ExitStack() as stack:
            with stage("session"):
                spark = stack.enter_context(session(root))
            with stage("first job"):
                read(spark, root, {"first.log": READING})
            for again in ("", ", again"):
                with stage(f"{files} files on Spark{again}", len(content) * files):
                    read(spark, root, dict.fromkeys(names, READING))


if __name__ == "__main__":
    main()
