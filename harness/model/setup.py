"""What a request came to, for the stages after `build`: setup.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Profile(StrEnum):
    """JVM settings of the nodes: `fast` for many short clusters, `production` as Kafka's own start script."""

    FAST = "fast"
    PRODUCTION = "production"


class NodeRuntime(StrEnum):
    """What nodes run as: processes of this host, or containers of its engine."""

    PROCESS = "process"
    CONTAINER = "container"


@dataclass(frozen=True, slots=True)
class Setup:
    """What a request came to, once the files that it names were read.

    `overlay` are the user's own server properties; `settings` are an arm's, by its name. The jar is proved by the
    `claims` file and, with a folder of patches in `series`, by what they change; `waivers` is a file. All three are
    empty where there is none.
    """

    flag_key: str
    overlay: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    claims: str = ""
    series: str = ""
    waivers: str = ""
