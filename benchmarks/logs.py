"""All figures of the log diff in one run: its kernel beside others', Spark's share, whole diffs, templates, contrasts.

python benchmarks/logs.py [GIGABYTES] [RUN_DIR]

The lines are those of tests/unit/log-sample (three controllers with brokers and a broker, at DEBUG), over and over,
each time with other digits. CPU seconds are user and system time of this process and all its children, also of those
that nobody waited for. Whole diffs are of 0.1 and 1 GB, and of GIGABYTES if given; what they read lies in $TMPDIR.
Contrasts need real runs: RUN_DIR is as benchmarks/contrasts.py wants it, and left out they are not asked.
"""

import gzip
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
import psutil
from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig

from harness.logs.read.blocks import LINES, LogFile, partials
from harness.logs.read.event_counts import WHOLE_LOG, Reading
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.masks import MASKS, template
from harness.logs.read.pipeline import read
from harness.logs.read.spark import session
from harness.toolbox.toolbox import local_toolbox

sys.path.insert(0, str(Path(__file__).parent))
import contrasts
import templates

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


@dataclass(frozen=True, slots=True)
class Took:
    """What a whole command took: CPU seconds, seconds, and the most memory that its processes had at once."""

    cpu: float
    wall: float
    bytes: int


def kernels(root: Path, content: bytes) -> float:
    """Print what the kernel takes beside others, all on one thread and in one run; return its CPU seconds per byte."""
    lines = pl.Series("line", content.splitlines(), dtype=pl.Binary)
    columns = {"file": pl.lit(7, pl.Int64), "block": pl.lit(0, pl.Int64)}
    rows = pl.DataFrame({"line": lines}).with_columns(**columns).select(LINES.names())
    frames = [rows.slice(at, AT_ONCE) for at in range(0, rows.height, AT_ONCE)]
    begun = time.process_time()
    with stage("kernel", len(content)):
        list(partials(frames, {7: LogFile("x", READING)}))
    took = (time.process_time() - begun) / len(content)
    with stage("Polars alone, the same masks", len(content)):
        alone(frames)
    few = content[:FEW]
    (root / "few.txt").write_bytes(few)
    with stage("DuckDB, the same masks", len(few)):
        in_duckdb(root / "few.txt")
    with stage("Drain3", len(few)):
        in_drain(few.decode().splitlines())
    if found := shutil.which("rg"):
        used = command([found, "-j1", "-c", r"\b\d+\b", str(root / "few.txt")]).cpu
        print(f"rg, one of the masks, counting only {len(few) / 1e6 / used:6.0f} MB/CPU s")
    return took


def command(words: list[str]) -> Took:
    """Run a command to its end. Spark's daemon waits for no worker, so what each has used is asked while it lives."""
    begun, used, most = time.monotonic(), dict[int, float](), 0
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as started:
        while started.poll() is None:
            memory = 0
            with suppress(psutil.Error):
                for each in [(top := psutil.Process(started.pid)), *top.children(recursive=True)]:
                    used[each.pid] = sum(each.cpu_times()[:2])
                    memory += each.memory_info().rss
            most = max(most, memory)
            time.sleep(0.05)
    assert started.returncode == 0, words
    return Took(sum(used.values()), time.monotonic() - begun, most)


def whole(root: Path, content: bytes, gigabytes: float) -> Took:
    """Compare two folders of so many gigabytes together, in files of the content's size."""
    folders = [root / "a", root / "b"]
    for folder in folders:
        folder.mkdir()
        for number in range(round(gigabytes * 1e9 / len(content) / 2)):
            (folder / f"{number}.log").write_bytes(content)
    out = root / "out"
    took = command([sys.executable, "-m", "harness", "diff", *map(str, folders), "--out", str(out)])
    for folder in [*folders, out]:
        shutil.rmtree(folder)
    print(
        f"harness diff of {gigabytes:g} GB {took.cpu:24.1f} CPU s {took.wall:6.1f} s, {took.bytes >> 20} MiB",
        flush=True,
    )
    return took


def main() -> None:
    runs = [Path(word) for word in sys.argv[1:] if Path(word).is_dir()]
    others = [word for word in sys.argv[1:] if not Path(word).is_dir()]
    if strange := [word for word in others if not re.fullmatch(r"\d+(\.\d+)?", word)]:
        sys.exit(f"{strange[0]} is neither a run directory nor a number of gigabytes.")
    largest = list(map(float, others))
    content = multiplied(12_500_000, random.Random(1))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        kernel = kernels(root, content * 8)
        (root / "first.log").write_bytes(content[: content.index(b"\n[", 1000) + 1])
        for time_ in ("first", "second", "third"):  # the second of an installation writes the archive of classes
            with ExitStack() as stack, stage(f"session and first job, {time_} time"):
                read(stack.enter_context(session(root, local_toolbox())), root, {"first.log": READING})
        small, large, *_ = [whole(root, content, size) for size in (0.1, 1.0, *largest)]
    marginal = (large.cpu - small.cpu) / 0.9e9
    print(f"a further gigabyte: {marginal * 1e9:.1f} CPU s, of which the kernel takes {kernel / marginal:.0%}")
    templates.main()
    for run_dir in runs:
        contrasts.main(run_dir, "stock", 20)


if __name__ == "__main__":
    main()
