"""`harness noise`: what base's jars log by chance, learned from run directories, and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.base.errors import HarnessError
from harness.base.text import cut, visible
from harness.cli import common
from harness.cli.common import Offline
from harness.cli.helptext import help_text
from harness.model.request import DEFAULT_KAFKA

KafkaVersion = Annotated[str, typer.Option("--kafka", help="A Kafka version of the release line.")]
NoiseFile = Annotated[
    Path | None,
    typer.Option(
        "--out", help="The file to add to: that of a checkout's builds, or your own, if not given.", show_default=False
    ),
]
_LONGEST = 140  # characters of a message type

_LEARN_HELP = help_text(
    "Learn what base's jar logs by chance from run directories, and add it to what is known.",
    "Every decided run of base counts, and of the same jar in another arm; what is learned twice counts once.",
    examples=(
        ("harness noise learn out/*-verify", "from earlier verifications"),
        ("harness noise learn out/aa/* --out builds/noise/3.9.json.gz", "into a file of its own"),
    ),
)
_SHOW_HELP = help_text(
    "Show from how many runs noise is known, and what base's jar warns of: in how many runs, how often at most.",
    examples=(("harness noise show --kafka 3.9.1", "the release line 3.9"),),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    noise = typer.Typer(no_args_is_help=True, help="What base's jars log by chance: learned from many runs.")
    noise.command("learn", help=_LEARN_HELP)(learn)
    noise.command("show", help=_SHOW_HELP)(show)
    app.add_typer(noise, name="noise")


def learn(
    folders: Annotated[list[Path], typer.Argument(help="Run directories, as `harness verify` makes them.")],
    version: KafkaVersion = DEFAULT_KAFKA,
    out: NoiseFile = None,
    offline: Offline = False,
) -> int:
    """Add what base's runs logged to a file of noise."""
    from harness.kafka.release_lines import line_of
    from harness.logs.noise_store import noise_for_writing
    from harness.stages.known_noise import learn_noise

    path = out or noise_for_writing(line_of(version).name)
    learned = learn_noise(folders, version, path, common.toolbox(offline=offline), common.reporter())
    common.console().print(f"{len(learned.runs)} runs are known: {path}")
    return 0


def show(version: KafkaVersion = DEFAULT_KAFKA) -> int:
    """Print what is known of a release line."""
    from harness.logs.noise_store import known_noise
    from harness.logs.noise_summary import describe_noise

    known = known_noise(version)
    if not known.runs:
        raise HarnessError(f"No noise of Kafka {known.line} is known.", "Learn it: harness noise learn RUN_DIR…")
    for text in describe_noise(known):
        common.console().print(Text(cut(visible(text), _LONGEST)))
    return 0
