"""Kafka's own scripts as an operator calls them: in the runbook, in its script and in the rehearsal; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

# What nearly every script calls the file of a client's properties; a release line says where it is another option.
COMMAND_CONFIG = "--command-config"
# What an operator's shell knows them by.
IN_SHELL = {"brokers": '"$BROKERS"', "controllers": '"$CONTROLLERS"'}


class Asked(StrEnum):
    """Whom a script asks: by which option, and what stands for their addresses."""

    BROKERS = "--bootstrap-server {brokers}"
    CONTROLLERS = "--bootstrap-controller {controllers}"


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """A script of bin/ with its arguments; `only` is what the lines have that are looked at, empty for all."""

    script: str
    asked: Asked
    arguments: str
    only: str = ""

    def text(self, config: str = "") -> str:
        """Return the command line, in which {brokers} and {controllers} are still to be named.

        `config` is the option with the file of a client's properties, empty where it is given none. It stands before
        the arguments: scripts with subcommands take it nowhere else.
        """
        config = f" {config}" if config else ""
        only = f" | grep '{self.only}'" if self.only else ""
        return " ".join(filter(None, (f"bin/{self.script}", self.asked + config, self.arguments))) + only


def with_config(call: ScriptCall, options: Mapping[str, str]) -> str:
    """Return a command line that names a client's properties, as {config}; `options` are a line's exceptions."""
    return call.text(f"{_option(call, options)} {{config}}")


def in_shell(call: ScriptCall, options: Mapping[str, str]) -> str:
    """Return the command of a shell script, which names them where there are any, and looks at every line itself."""
    config = f'${{COMMAND_CONFIG:+{_option(call, options)} "$COMMAND_CONFIG"}}'
    return replace(call, only="").text("{config}").format(**IN_SHELL, config=config)


def _option(call: ScriptCall, options: Mapping[str, str]) -> str:
    return options.get(call.script, COMMAND_CONFIG)


REPLICATION = ScriptCall("kafka-metadata-quorum.sh", Asked.CONTROLLERS, "describe --replication")
STATUS = ScriptCall("kafka-metadata-quorum.sh", Asked.CONTROLLERS, "describe --status")
API_VERSIONS = ScriptCall("kafka-broker-api-versions.sh", Asked.BROKERS, "", only="id:")
UNAVAILABLE = ScriptCall("kafka-topics.sh", Asked.BROKERS, "--describe --unavailable-partitions")
UNDER_REPLICATED = ScriptCall("kafka-topics.sh", Asked.BROKERS, "--describe --under-replicated-partitions")
AT_MIN_ISR = ScriptCall("kafka-topics.sh", Asked.BROKERS, "--describe --at-min-isr-partitions")
TOPICS = ScriptCall("kafka-topics.sh", Asked.BROKERS, "--describe")
REASSIGNMENTS = ScriptCall("kafka-reassign-partitions.sh", Asked.BROKERS, "--list")
ELECTION = ScriptCall("kafka-leader-election.sh", Asked.BROKERS, "--election-type preferred --all-topic-partitions")
