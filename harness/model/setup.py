"""How the jar is proved and every node is set up: setup.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.model.proof import TestScope


class Profile(StrEnum):
    """JVM settings of the nodes: `fast` for many short clusters, `production` as Kafka's own start script."""

    FAST = "fast"
    PRODUCTION = "production"


@dataclass(frozen=True, slots=True)
class Setup:
    """How the jar is proved and the nodes of every run are set up: setup.json, for the stages after `build`.

    `java_home` is empty for the bundled runtime, `base_dist` for the locked one. `overlay` are the user's own
    server properties; `settings` are an arm's, by its name. The jar is proved by the `claims` file and, with a folder
    of patches in `series`, by what they change; `waivers` is a file. All three are empty where there is none.
    With `coverage`, each scenario runs once more on the candidate to see which changed lines it reaches.
    """

    java_home: str
    base_dist: str
    profile: str
    flag_key: str
    jobs: int
    offline: bool = False
    overlay: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    claims: str = ""
    series: str = ""
    waivers: str = ""
    tests: TestScope = TestScope.RELATED
    coverage: bool = True
