"""Prepare once what every cluster of a distribution shares, in the user's cache: storage template, class archive."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.java_failures import failure_in
from harness.base.tails import tail
from harness.base.waiting import wait_until
from harness.cluster import jvm
from harness.cluster.cluster import Cluster
from harness.cluster.formatting import NoStartError, make_template
from harness.cluster.install import Install, NodeKafka
from harness.cluster.loopback import Loopback
from harness.cluster.node import Launch, Node, NodeState
from harness.cluster.topology import Topology
from harness.kafka.release_lines import Line, Mode
from harness.model.setup import Profile

_TRAINING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class NodeParts:
    """What all nodes are made of: a JVM, jars without the raft jar, formatted storage, an archive, their line.

    There is a `template` where nodes of the line are started in KRaft, which alone has its storage formatted.
    `reporter` is the folder of the compiled metrics reporter (harness.cluster.node_figures).
    """

    java: Path
    class_path: tuple[Path, ...]
    template: Path | None
    archive: Path | None
    profile: Profile
    line: Line
    reporter: Path | None = None

    @property
    def kafka(self) -> NodeKafka:
        """What a node of another cluster is started from when this is installed on it."""
        return NodeKafka(self.class_path, self.line, self.archive, self.reporter)

    def launch(self, overlay: Mapping[str, str], host: str = Loopback.host) -> Launch:
        """Return how nodes are started that reach the harness at `host`."""
        return Launch(
            self.java,
            self.class_path,
            self.profile,
            self.line,
            self.archive,
            overlay,
            host,
            reporter=self.reporter,
        )


def make_node_parts(
    java: Path,
    class_path: Sequence[Path],
    stock_raft_jar: Path,
    profile: Profile,
    line: Line,
    cache: Path,
    report: Callable[[str], None],
) -> NodeParts:
    """Make or find the template, where the line has one, and for the fast profile the class archive.

    Raises HarnessError, NoStartError for a Kafka that does not start.
    """
    jars = tuple(class_path)
    key = jvm.archive_key(java, (*jars, stock_raft_jar), profile)
    template = cache / "templates" / key if Mode.KRAFT in line.modes else None
    if template and not template.exists():
        report("formatting a storage template with Kafka's StorageTool")
        make_template(java, (*jars, stock_raft_jar), line.main_classes.storage, template)
    bare = NodeParts(java, jars, template, None, profile, line)
    if profile is not Profile.FAST:
        return bare
    archive = cache / "class-archives" / f"{key}.jsa"
    if not archive.exists():
        report("writing a class archive, once for this distribution and Java")
        _write_archive(bare, stock_raft_jar, archive)
    return replace(bare, archive=archive)


def _write_archive(node_parts: NodeParts, stock_raft_jar: Path, archive: Path) -> None:
    """Run one node to learn which classes a start loads, then archive them."""
    one = Topology(1, 0) if node_parts.template else Topology(0, 1, combined=False, mode=Mode.ZOOKEEPER)
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as folder:
        class_list = Path(folder) / "classes"
        learn = (f"-XX:DumpLoadedClassList={class_list}",)
        launch, stock = replace(node_parts.launch({}), extra_flags=learn), Install("stock", stock_raft_jar, "", "")
        with Cluster(one, Path(folder), launch, stock, node_parts.template, lambda _: None) as cluster:
            cluster.start(cluster.nodes)
            wait_until(lambda: _is_decided(cluster), _TRAINING_SECONDS)
            if dead := next((node for node in cluster.nodes.values() if node.state is NodeState.DIED), None):
                raise NoStartError(f"a node ends while it starts: {failure_in(_said(dead))}.")
            if not _all_ready(cluster):
                raise NoStartError(f"a node is not up within {_TRAINING_SECONDS:.0f} s.")
            for node in cluster.nodes.values():
                node.stop()
        flags = jvm.flags(node_parts.profile, node_parts.line, None)
        jvm.dump_archive(node_parts.java, node_parts.class_path, class_list, archive, flags)


def _is_decided(cluster: Cluster) -> bool:
    cluster.look()
    return _all_ready(cluster) or any(node.state is NodeState.DIED for node in cluster.nodes.values())


def _all_ready(cluster: Cluster) -> bool:
    return all(node.state is NodeState.READY for node in cluster.nodes.values())


def _said(node: Node) -> str:
    """Return the end of what a node logged and printed."""
    lines = [line for path in (node.log_file, node.output_file) if path.is_file() for line in tail(path)[1]]
    return b"\n".join(lines).decode("utf-8", "replace")
