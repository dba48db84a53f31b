"""What a Kafka version is made of, asked of a Maven repository once and then locked."""

from __future__ import annotations

from jgo.maven import MavenContext

from harness.base.errors import HarnessError
from harness.kafka.lock import checked_version
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Lock, Purpose

# The log binding is in the released archive but not among the broker's Maven dependencies.
_LOG_BINDING = ("org.slf4j:slf4j-reload4j:jar:1.7.36", "ch.qos.reload4j:reload4j:jar:1.2.25")
# What the released test jar of the raft module was compiled against (gradle/dependencies.gradle of 3.9.1). JUnit,
# its console with Jupiter in it, and Mockito are none of our tools: the tests link to them, so that they change with
# the release line as the tests do.
_TESTS = (
    "org.apache.kafka:kafka-raft:jar:test:{version}",
    "org.apache.kafka:kafka-clients:jar:test:{version}",
    "org.apache.kafka:kafka-server-common:jar:test:{version}",
    "org.junit.platform:junit-platform-console-standalone:jar:1.10.2",
    "org.mockito:mockito-core:jar:5.14.2",
    "org.mockito:mockito-junit-jupiter:jar:5.14.2",
    "net.bytebuddy:byte-buddy:jar:1.15.4",
    "net.bytebuddy:byte-buddy-agent:jar:1.15.4",
    "org.objenesis:objenesis:jar:3.3",
    "net.jqwik:jqwik-api:jar:1.8.3",
    "net.jqwik:jqwik-engine:jar:1.8.3",
    "org.hamcrest:hamcrest:jar:2.2",
)
# What the commands of a rollout's runbook need beyond the broker's own class path.
_COMMANDS = ("org.apache.kafka:kafka-tools:jar:{version}",)


def resolve_lock(version: str, downloads: Downloads) -> Lock:
    """Resolve a Kafka version's class path, download all its files and return their pins.

    Raises HarnessError when the version is not in the repository or the network is forbidden or away.
    """
    checked_version(version)
    if downloads.offline:
        raise HarnessError("A lock cannot be written with --offline.", "Run it once with a network.")
    wanted = [(coordinate, Purpose.RUNTIME) for coordinate in _runtime(version, downloads)]
    wanted.append((f"org.apache.kafka:kafka-raft:jar:sources:{version}", Purpose.SOURCES))
    wanted += [(coordinate.format(version=version), Purpose.TESTS) for coordinate in _TESTS]
    wanted += [(coordinate.format(version=version), Purpose.COMMANDS) for coordinate in _COMMANDS]
    return Lock(version, downloads.pin_all(wanted))


def _runtime(version: str, downloads: Downloads) -> list[str]:
    server = f"org.apache.kafka:kafka_2.13:{version}"

    def resolve(context: MavenContext) -> list[str]:
        roots = [context.create_dependency(each) for each in (server, *_LOG_BINDING)]
        found, behind = context.resolver.resolve(roots)
        return sorted({str(dependency.artifact) for dependency in (*found, *behind)})

    return downloads.ask(server, resolve)
