"""Where disks and the cluster's ids are to be had from: what the commands of `harness topic-ids` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import HarnessError

Cluster = Annotated[
    list[Path] | None,
    typer.Option(
        "--cluster",
        help="A broker's server.properties, or what `harness topic-ids check --export` wrote on its host: whether "
        "topic ids on its disks are those of its cluster; can be repeated.",
        show_default=False,
    ),
]
Data = Annotated[
    list[Path] | None,
    typer.Option("--data", help="A data directory of a broker; can be repeated.", show_default=False),
]
Config = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        help="A broker's server.properties: its data directories, and where its cluster is; can be repeated.",
        show_default=False,
    ),
]
Collected = Annotated[
    list[Path] | None,
    typer.Option("--collected", help="A folder of files copied from brokers; can be repeated.", show_default=False),
]
Merge = Annotated[
    list[Path] | None,
    typer.Option("--merge", help="What --export wrote on a broker's host; can be repeated.", show_default=False),
]
ZooKeeper = Annotated[
    str, typer.Option("--zookeeper", help="The ensemble: host:port,host:port/chroot.", show_default=False)
]
Security = Annotated[
    Path | None,
    typer.Option("--zookeeper-security", help="A TOML file with [tls], [sasl] or [digest].", show_default=False),
]
MetadataLog = Annotated[
    Path | None,
    typer.Option("--metadata-log", help="The folder __cluster_metadata-0 of a KRaft node.", show_default=False),
]


def check_security_is_of_cluster(cluster: Sequence[Path] | None, security: Path | None) -> None:
    """Raise HarnessError where a file says how to talk to a ZooKeeper that no `--cluster` names."""
    if security and not cluster:
        raise HarnessError(
            "--zookeeper-security is about the ZooKeeper of --cluster, which is not given.",
            "Name a broker's server.properties by --cluster too.",
        )
