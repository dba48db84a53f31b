"""What a lock pins: the broker's dependencies as its own POM resolves them, and beside them what the line names."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.base.errors import HarnessError
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


class Named(str):
    """An artifact by its coordinate."""

    __slots__ = ()

    @property
    def artifactId(self):  # noqa: N802 - as the library has it
        return self.split(":")[1]

    @property
    def version(self):
        return self.rpartition(":")[2]


class Repository:
    """A repository in which the log binding's POM manages another version of Kafka's clients.

    `log4j` is the version of log4j-core that the broker depends on, if it does.
    """

    offline = False

    def __init__(self, log4j="", missing=()):
        self.missing = {*missing}
        self.log4j = [f"org.example:log4j-core:jar:{log4j}"] if log4j else []

    def ask(self, what, question):
        def resolve(roots):
            managed = "3.8.0" if any("log-binding" in root for root in roots) else "4.0.2"
            names = [*roots, f"org.apache.kafka:kafka-clients:jar:{managed}", *self.log4j]
            return [SimpleNamespace(artifact=Named(name)) for name in names], []

        resolver = SimpleNamespace(resolve=resolve, missing=self.missing)
        return question(SimpleNamespace(resolver=resolver, create_dependency=lambda coordinate: coordinate))

    def pin_all(self, wanted, _known):
        return tuple(Artifact(coordinate, "ab" * 32, 1, purpose) for coordinate, purpose in wanted)


def test_a_module_of_which_nobody_knows_what_it_needs_is_not_locked_as_if_it_needed_nothing():
    lacking = Repository(missing=["kafka-clients-4.0.2.pom", "elsewhere-1.pom"])
    with pytest.raises(HarnessError, match=r"lacks kafka-clients-4\.0\.2\.pom, so that nobody knows"):
        resolve_lock("4.0.2", PINS, lacking)


def test_the_log_binding_changes_no_version_of_what_the_broker_depends_on():
    lock = resolve_lock("4.0.2", PINS, Repository())
    assert [artifact.coordinate for artifact in lock.of(Purpose.RUNTIME)] == [
        "org.apache.kafka:kafka-clients:jar:4.0.2",
        "org.apache.kafka:kafka-tools:jar:4.0.2",
        "org.apache.kafka:kafka_2.13:4.0.2",
        "org.example:log-binding:jar:2.0",
    ]


@pytest.mark.parametrize(("depends", "bound"), [("2.25.3", "2.25.3"), ("", "2.24.3")])
def test_the_log_binding_is_of_the_version_that_the_broker_depends_on_else_of_the_lines_own(depends, bound):
    pins = replace(
        PINS, beside_broker=("org.example:log4j-core:jar:2.24.3", "org.example:log4j-slf4j-impl:jar:{log4j-core}")
    )
    lock = resolve_lock("4.1.2", pins, Repository(depends))
    log4j = [artifact.coordinate for artifact in lock.artifacts if "log4j" in artifact.coordinate]
    assert log4j == [f"org.example:log4j-core:jar:{bound}", f"org.example:log4j-slf4j-impl:jar:{bound}"]


def test_a_line_that_binds_to_what_the_broker_does_not_depend_on_is_refused_in_a_sentence():
    pins = replace(PINS, beside_broker=("org.example:log-binding:jar:{log4j-core}",))
    with pytest.raises(HarnessError, match=r"pins org\.example:log-binding:.*, and 'log4j-core' is none of the broker"):
        resolve_lock("4.1.2", pins, Repository())


def test_what_is_named_with_the_version_is_pinned_for_its_purpose():
    lock = resolve_lock("4.0.2", PINS, Repository())
    assert lock.one(Purpose.SOURCES).coordinate == "org.apache.kafka:kafka-raft:jar:sources:4.0.2"
    assert lock.one(Purpose.TESTS).coordinate == "org.apache.kafka:kafka-raft:jar:test:4.0.2"
    assert lock.of(Purpose.COMMANDS) == ()
