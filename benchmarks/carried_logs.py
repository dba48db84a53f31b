"""What it costs to read logs behind carriers: whole diffs of the same events, plain and carried, pair by pair.

python benchmarks/carried_logs.py [GIGABYTES ...]

The lines are those of benchmarks/logs.py: so many gigabytes (0.1 if none is named) as Kafka writes them, then the same
behind `kubectl logs --timestamps`, and below one gigabyte also as docker's json-file keeps them and as ECS objects,
each beside a plain one.
"""

import json
import random
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from logs import Took, multiplied, whole

_EVENT = re.compile(
    r"^\[(\d{4}-\d\d-\d\d) ([\d:]+),(\d{3})\] ([A-Z]+) "
    r"([^\n]*(?:\n(?!\[\d{4})[^\n]*)*?) \(([^\s()]+)\)$((?:\n(?!\[\d{4})[^\n]*)*)",
    re.MULTILINE,
)
_STAMP = "2026-11-21T14:28:58.949123456Z"


def kubectl(log: str) -> str:
    return "".join(f"{_STAMP} {line}\n" for line in log.splitlines())


def docker(log: str) -> str:
    lines = ({"log": f"{line}\n", "stream": "stdout", "time": _STAMP} for line in log.splitlines())
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def ecs(log: str) -> str:
    written = []
    for day, time, fraction, level, message, logger, rest in _EVENT.findall(log):
        event = {"@timestamp": f"{day}T{time}.{fraction}Z", "ecs.version": "1.2.0", "log.level": level}
        event |= {"message": message, "process.thread.name": "main", "log.logger": logger}
        written.append(json.dumps(event | ({"error.stack_trace": rest[1:]} if rest.strip() else {})))
    return "".join(f"{line}\n" for line in written)


FORMS: dict[str, Callable[[str], str]] = {"kubectl --timestamps": kubectl, "docker's json-file": docker, "ECS": ecs}


def pair(root: Path, log: str, name: str, gigabytes: float) -> None:
    """Compare the same events plain and in a form, and print what the form costs more."""
    both: list[Took] = []
    for form in (str, FORMS[name]):
        content = form(log).encode()
        both.append(whole(root, content, gigabytes * len(content) / len(log.encode())))
    plain, carried = both
    print(f"{gigabytes:g} GB, {name}: {carried.cpu / plain.cpu:.2f} of the plain log's CPU seconds, "
          f"{carried.wall / plain.wall:.2f} of its time", flush=True)  # fmt: skip


def main() -> None:
    log = multiplied(12_500_000, random.Random(1)).decode()
    with tempfile.TemporaryDirectory() as folder:
        for gigabytes in map(float, sys.argv[1:] or ["0.1"]):
            for name in FORMS if gigabytes < 1 else ["kubectl --timestamps"]:
                pair(Path(folder), log, name, gigabytes)


if __name__ == "__main__":
    main()
