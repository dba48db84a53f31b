"""What a lock pins: the broker's dependencies as its own POM resolves them, and beside them what the line names."""

from types import SimpleNamespace

from harness.kafka.release_lines import Pins
from harness.kafka.resolving import resolve_lock
from harness.toolbox.lockfile import Artifact, Purpose

PINS = Pins(
    broker="org.apache.kafka:kafka_2.13:{version}",
    beside_broker=("org.example:log-binding:jar:2.0", "org.apache.kafka:kafka-tools:jar:{version}"),
    sources=("org.apache.kafka:kafka-raft:jar:sources:{version}",),
    commands=(),
    tests=("org.apache.kafka:kafka-raft:jar:test:{version}",),
)


class Repository:
    """A repository in which the log binding's POM manages another version of Kafka's clients."""

    offline = False

    def ask(self, what, question):
        def resolve(roots):
            managed = "3.8.0" if any("log-binding" in root for root in roots) else "4.0.2"
            names = [*roots, f"org.apache.kafka:kafka-clients:jar:{managed}"]
            return [SimpleNamespace(artifact=name) for name in names], []

        resolver = SimpleNamespace(resolve=resolve)
        return question(SimpleNamespace(resolver=resolver, create_dependency=lambda coordinate: coordinate))

    def pin_all(self, wanted):
        return tuple(Artifact(coordinate, "ab" * 32, 1, purpose) for coordinate, purpose in wanted)


def test_the_log_binding_changes_no_version_of_what_the_broker_depends_on():
    lock = resolve_lock("4.0.2", PINS, Repository())
    assert [artifact.coordinate for artifact in lock.of(Purpose.RUNTIME)] == [
        "org.apache.kafka:kafka-clients:jar:4.0.2",
        "org.apache.kafka:kafka-tools:jar:4.0.2",
        "org.apache.kafka:kafka_2.13:4.0.2",
        "org.example:log-binding:jar:2.0",
    ]


def test_what_is_named_with_the_version_is_pinned_for_its_purpose():
    lock = resolve_lock("4.0.2", PINS, Repository())
    assert lock.one(Purpose.SOURCES).coordinate == "org.apache.kafka:kafka-raft:jar:sources:4.0.2"
    assert lock.one(Purpose.TESTS).coordinate == "org.apache.kafka:kafka-raft:jar:test:4.0.2"
    assert lock.of(Purpose.COMMANDS) == ()
