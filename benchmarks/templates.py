"""How well events are grouped by the statement that wrote them: the harness against Drain3, on labelled real lines.

python benchmarks/templates.py

The sample (tests/unit/log-sample) are events of four nodes, three controllers with brokers and a broker, at DEBUG.
Each is labelled by the file and line that wrote it, as the JVM itself told when it was logged (the first frame of
the stack outside of the logging libraries). GA, FGA, PA and FTA are those of Loghub-2.0.
"""

import gzip
import re
import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import polars as pl

from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.library import library
from harness.logs.read.masks import template
from harness.logs.read.statements import Statement, Statements

SAMPLE = Path(__file__).resolve().parents[1] / "tests" / "unit" / "log-sample"
VERSION = "3.9.1"
# Read in the sources where no literal stands at the place: a constant of another class, a library of others.
WRITTEN = {
    "kafka/server/KafkaRaftServer.scala:101": "Kafka Server started",
    "org/apache/zookeeper/common/X509Util.java:78": "Setting -D {}=true to disable client-initiated TLS renegotiation",
    "org/apache/kafka/common/config/AbstractConfig.java:371": "{} values: {}",
}
NEAR = 12  # lines that a statement may begin before the line that the JVM tells of it


@dataclass(frozen=True, slots=True)
class Sample:
    """Events with their fields, and for each the node and the place in the sources that wrote it."""

    events: pl.DataFrame
    nodes: Sequence[str]
    labels: Sequence[str]


@dataclass(frozen=True, slots=True)
class Scores:
    """Grouping and parsing accuracy by lines (GA, PA) and the F1 of both by templates (FGA, FTA)."""

    ga: float
    fga: float
    pa: float
    fta: float


def sample() -> Sample:
    text = gzip.decompress((SAMPLE / "sample.log.gz").read_bytes()).decode()
    labels = gzip.decompress((SAMPLE / "labels.txt.gz").read_bytes()).decode().splitlines()
    events = [event for event in re.split(r"(?m)^(?=\[20\d\d-)", text) if event]
    parsed = pl.DataFrame({"text": events}).select("text", p=compile_layout(KAFKA_DEFAULT).parse(pl.col("text")))
    nodes, places = zip(*(label.split(" ", 1) for label in labels), strict=True)
    return Sample(parsed.unnest("p"), nodes, places)


def by_statement(events: pl.DataFrame) -> tuple[list[Hashable], list[str]]:
    """Return the harness's group of each event and its template: a statement's, else the masked message."""
    known = Statements(library(VERSION))
    masked = events.select(template(pl.col("message").str.strip_chars_end())).to_series()
    kinds: dict[tuple[str, str, str], Statement | None] = {}
    groups: list[Hashable] = []
    texts: list[str] = []
    for level, logger, message, mask in zip(events["level"], events["logger"], events["message"], masked, strict=True):
        key = (level, logger, mask)
        if key not in kinds:
            kinds[key] = known.of(level, logger, message)
        found = kinds[key]
        groups.append(found.place if found else key)
        texts.append(found.text if found else re.sub(r"<\w+>|ⁿ", "{}", mask))
    return groups, texts


def mined(events: pl.DataFrame) -> tuple[list[Hashable], list[str]]:
    """Return Drain3's group of each event and its template, with Drain3's usual settings and masks for addresses."""
    from drain3 import TemplateMiner
    from drain3.masking import MaskingInstruction
    from drain3.template_miner_config import TemplateMinerConfig

    config = TemplateMinerConfig()
    config.masking_instructions = [
        MaskingInstruction(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", "*"),
        MaskingInstruction(r"\b[A-Za-z0-9_-]{22}\b", "*"),
        MaskingInstruction(r"(?<=[^A-Za-z0-9])-?\d+(?=[^A-Za-z0-9]|$)", "*"),
    ]
    miner = TemplateMiner(config=config)
    groups: list[Hashable] = [miner.add_log_message(message)["cluster_id"] for message in events["message"]]
    text = {cluster.cluster_id: cluster.get_template().replace("<*>", "{}") for cluster in miner.drain.clusters}
    return groups, [text[group] for group in groups]


def truth(labels: Sequence[str]) -> list[str]:
    """Return the text of the statement at each label; of several wordings or none there, nothing."""
    of_file: dict[str, list[Statement]] = defaultdict(list)
    for statement in library(VERSION).statements:
        of_file[statement.file].append(statement)
    texts = dict(WRITTEN)
    for label in set(labels) - set(texts):
        file, line = label.rsplit(":", 1)
        near = [each for each in of_file.get(file, []) if 0 <= int(line) - each.line <= NEAR]
        last = max((each.line for each in near), default=0)
        words = {each.text for each in near if each.line == last}
        texts[label] = words.pop() if len(words) == 1 else ""
    return [texts[label] for label in labels]


def answers(known: Sample) -> tuple[list[Hashable], list[str]]:
    """Return the true group and the true template of each event.

    A template is a text: statements of one file that write the same one are the same template.
    """
    texts = truth(known.labels)
    pairs = zip(known.labels, texts, strict=True)
    return [(label.rpartition(":")[0], text) if text else label for label, text in pairs], texts


def scores(
    labels: Sequence[Hashable], texts: Sequence[str], groups: Sequence[Hashable], found: Sequence[str]
) -> Scores:
    """Compare groups and templates with labels and texts, event by event; templates by `comparable` tokens."""
    true, ours = _members(labels), _members(groups)
    exact = [members for members in ours.values() if true[labels[members[0]]] == members]
    same = [text != "" and comparable(text) == comparable(other) for text, other in zip(texts, found, strict=True)]
    both = [members for members in exact if all(same[member] for member in members)]
    lines = len(labels)
    grouped = sum(map(len, exact)) / lines
    return Scores(
        grouped, _f1(len(exact), len(ours), len(true)), sum(same) / lines, _f1(len(both), len(ours), len(true))
    )


def comparable(text: str) -> str:
    """Return a template's tokens, one mark for neighbouring tokens with values, without the log context before it."""
    bare = re.sub(r"^(?:\[[^\]]*\]:? ?)+", "", text)
    tokens = ["{}" if "{}" in token else token for token in bare.split()]
    return re.sub(r"\{\}(?: \{\})+", "{}", " ".join(tokens))


def _members(groups: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    members: dict[Hashable, list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        members[group].append(number)
    return members


def _f1(right: int, found: int, true: int) -> float:
    return 2 * right / (found + true)


def main() -> None:
    known = sample()
    labels, texts = answers(known)
    print(f"{len(labels)} events of {len(set(known.labels))} statements, {len(set(labels))} templates")
    print(f"by node: {dict(Counter(known.nodes))}")
    print(f"{sum(text == '' for text in texts)} events of a statement whose text the sources do not tell")
    for name, parse in (("harness", by_statement), ("Drain3", mined)):
        begun = time.process_time()
        groups, found = parse(known.events)
        took = time.process_time() - begun
        figures = "  ".join(f"{value:.3f}" for value in astuple(scores(labels, texts, groups, found)))
        print(f"{name:8} GA FGA PA FTA  {figures}  {took:.2f} CPU s")


if __name__ == "__main__":
    main()
