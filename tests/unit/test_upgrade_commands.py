"""Options of Kafka's scripts, as their help tells them, and what of them is gone."""

import subprocess
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.kafka_inventory import Command, CommandOption
from harness.model.operator_changes import Weight
from harness.upgrade import commands
from harness.upgrade.command_changes import command_changes
from harness.upgrade.commands import HelpProbe, commands_of, scripts_of
from harness.upgrade.help_text import options_in, subcommands_in

JOPT = """\
This tool reads data from standard input.
Option                                   Description
------                                   -----------
--bootstrap-server <String: server to    REQUIRED unless --broker-list
  connect to>                              (deprecated) is specified.
--broker-list <String: broker-list>      DEPRECATED, use --bootstrap-server
                                           instead.
--line-reader <String: reader_class>     The class for reading lines.
                                           --not-an-option (default: kafka.
                                           tools.LineMessageReader)
--group <String: gid>                    The group id. (default: perf-
                                           consumer-68379)
--topic <String: topic>                  REQUIRED: The topic.
CommandHelp$Ended
\tat org.apache.kafka.common.utils.Exit.exit(Exit.java:63)
"""
MARKED = """\
Option (* = required)                 Description
---------------------                 -----------
* --bootstrap-server <String: server  REQUIRED: The server.
  to connect to>
--help                                Print usage information.
"""
ARGPARSE = """\
usage: kafka-storage format [-h] --config CONFIG
                            [--cluster-id CLUSTER_ID | --any] (--one | --two)

Format things, see --elsewhere.

optional arguments:
  -h, --help             show this help message and exit
  --config CONFIG, -c CONFIG
                         The config.
  --cluster-id CLUSTER_ID, -t CLUSTER_ID
                         The id. (default: none)
  --old OLD              (DEPRECATED) Not any more.
"""


def test_options_of_jopt_simple_with_what_is_required_deprecated_and_taken_by_default():
    assert options_in(JOPT) == (
        CommandOption("--bootstrap-server"),
        CommandOption("--broker-list", deprecated=True),
        CommandOption("--group", default="perf-consumer-N"),
        CommandOption("--line-reader", default="kafka.tools.LineMessageReader"),
        CommandOption("--topic", required=True),
    )


def test_a_star_before_an_option_says_that_it_is_required():
    assert options_in(MARKED) == (CommandOption("--bootstrap-server", required=True), CommandOption("--help"))


def test_options_of_argparse4j_by_their_longest_names_required_where_the_usage_has_no_brackets():
    assert options_in(ARGPARSE) == (
        CommandOption("--cluster-id", default="none", others=("-t",)),
        CommandOption("--config", required=True, others=("-c",)),
        CommandOption("--help", others=("-h",)),
        CommandOption("--old", deprecated=True),
    )


def test_commands_of_a_command_stand_in_its_usage():
    assert subcommands_in("usage: kafka-cluster [-h] {cluster-id,\n       unregister} ...\n") == (
        "cluster-id",
        "unregister",
    )
    assert subcommands_in(JOPT) == ()


@given(st.text(max_size=400))
def test_no_help_is_too_strange_to_read(text):
    assert all(option.name.startswith("-") for option in options_in(text))
    subcommands_in(text)


def test_scripts_of_an_unpacked_kafka_say_themselves_what_they_start(tmp_path):
    (tmp_path / "kafka-topics.sh").write_text(
        '#!/bin/bash\nexec $(dirname $0)/kafka-run-class.sh org.apache.kafka.tools.TopicCommand "$@"\n'
    )
    (tmp_path / "acme-check.sh").write_text('exec $(dirname $0)/kafka-run-class.sh com.acme.kafka.Check "$@"\n')
    (tmp_path / "kafka-server-start.sh").write_text(
        'exec $base_dir/kafka-run-class.sh $EXTRA_ARGS -name kafkaServer kafka.Kafka "$@"\n'
    )
    (tmp_path / "zookeeper-shell.sh").write_text("exec kafka-run-class.sh org.apache.Shell -server $@\n")
    (tmp_path / "kafka-server-stop.sh").write_text("kill -s TERM $PIDS\n")
    assert scripts_of((), tmp_path) == {
        "acme-check.sh": "com.acme.kafka.Check",
        "kafka-server-start.sh": "kafka.Kafka",
        "kafka-server-stop.sh": "",
        "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
        "zookeeper-shell.sh": "org.apache.Shell",
    }


def test_an_option_is_the_same_by_any_of_its_names_and_a_name_that_is_gone_is_told():
    short, both = CommandOption("-a"), CommandOption("--all", others=("-a",))
    assert command_changes((command("a.sh", short),), (command("a.sh", both),)) == ()
    (gone,) = command_changes((command("a.sh", both),), (command("a.sh", CommandOption("--all")),))
    assert (gone.weight, gone.subject) == (Weight.BREAKS, "a.sh -a")
    (removed,) = command_changes(
        (command("a.sh", both, CommandOption("--x")),), (command("a.sh", CommandOption("--x")),)
    )
    assert (removed.subject, removed.other_names) == ("a.sh --all", ("-a",))


def command(name, *options, main="Main"):
    return Command(name, main, tuple(options))


def test_a_script_that_is_gone_breaks_who_calls_it_and_its_own_commands_are_not_told_again():
    base = (command("kafka-features.sh"), command("kafka-features.sh describe"))
    (gone,) = command_changes(base, ())
    assert (gone.weight, gone.subject) == (Weight.BREAKS, "kafka-features.sh")


def test_a_command_of_a_command_that_is_gone_breaks():
    kept = command("kafka-storage.sh"), command("kafka-storage.sh format")
    (gone,) = command_changes((*kept, command("kafka-storage.sh info")), kept)
    assert gone.subject == "kafka-storage.sh info"


def test_where_the_help_of_one_names_no_commands_at_all_it_was_not_read_and_none_is_gone_or_new():
    read, unread = (command("kafka-storage.sh"), command("kafka-storage.sh format")), (command("kafka-storage.sh"),)
    assert command_changes(read, unread) == command_changes(unread, read) == ()


class Asked:
    """Stands in for the JVM that asks tools for their help; it answers as far as the test says."""

    def __init__(self, monkeypatch, *runs):
        self.runs = [*runs]
        monkeypatch.setattr(commands, "run", self.run)

    def run(self, *_args, **_more):
        done = self.runs.pop(0)
        output = "".join(
            f"{at} {text if at == 'late' else b64encode(text.encode()).decode()}\n" for at, text in done[1:]
        )
        if done[0] == "cut":
            raise subprocess.TimeoutExpired("java", 1, output=output.encode())
        return subprocess.CompletedProcess("java", 0, output, "")


SCRIPTS = {"a.sh": "kafka.A", "b.sh": "kafka.B", "c.sh": "kafka.C"}


def test_what_was_answered_before_time_ran_out_counts_and_the_rest_is_asked_again(monkeypatch):
    Asked(monkeypatch, ("cut", (0, MARKED), (1, JOPT)), ("whole", (0, MARKED)))
    found, unknown = commands_of(SCRIPTS, (), HelpProbe(Path("classes"), SimpleNamespace(java="java")))
    assert [bool(each.options) for each in found] == [True, True, True]
    assert unknown == ()


def test_tools_that_do_not_end_in_time_or_cannot_be_loaded_are_named_and_who_logs_its_help_is_not(monkeypatch):
    Asked(monkeypatch, ("whole", ("late", "0"), (0, ""), (1, "java.lang.NoClassDefFoundError: org/acme/X"), (2, "")))
    _, unknown = commands_of(SCRIPTS, (), HelpProbe(Path("classes"), SimpleNamespace(java="java")))
    assert unknown == ("a.sh", "b.sh")


def test_a_tool_that_takes_its_jvm_with_it_every_time_is_named(monkeypatch):
    Asked(monkeypatch, ("whole",), ("whole", (0, MARKED), (1, MARKED)))
    _, unknown = commands_of(SCRIPTS, (), HelpProbe(Path("classes"), SimpleNamespace(java="java")))
    assert unknown == ("a.sh",)


@pytest.mark.parametrize(
    ("old", "new", "weight", "by_default"),
    [
        ((CommandOption("--a"), CommandOption("--x")), (CommandOption("--a"),), Weight.BREAKS, False),
        ((CommandOption("--a"),), (CommandOption("--a"), CommandOption("--x")), Weight.ADDS, False),
        ((CommandOption("--a"),), (CommandOption("--a"), CommandOption("--x", required=True)), Weight.BREAKS, True),
        ((CommandOption("--x"),), (CommandOption("--x", required=True),), Weight.BREAKS, True),
        ((CommandOption("--x", default="1"),), (CommandOption("--x", default="2"),), Weight.CHANGES, True),
        ((CommandOption("--x"),), (CommandOption("--x", deprecated=True),), Weight.CHANGES, False),
    ],
)
def test_an_option_is_weighed_by_what_becomes_of_calls(old, new, weight, by_default):
    (change,) = command_changes((command("kafka-acls.sh", *old),), (command("kafka-acls.sh", *new),))
    assert (change.subject, change.weight, change.by_default) == ("kafka-acls.sh --x", weight, by_default)


def test_a_script_whose_help_names_nothing_has_lost_nothing():
    assert command_changes((command("a.sh", CommandOption("--x")),), (command("a.sh"),)) == ()


def test_a_script_that_starts_no_class_is_compared_as_any_other():
    base, candidate = command("kafka-server-stop.sh", main=""), command("kafka-run-class.sh", main="")
    found = {change.subject: change.weight for change in command_changes((base,), (candidate,))}
    assert found == {"kafka-server-stop.sh": Weight.BREAKS, "kafka-run-class.sh": Weight.ADDS}


def test_a_script_of_which_no_main_class_is_known_in_one_kafka_has_no_other():
    known, unknown = command("kafka-topics.sh"), command("kafka-topics.sh", main="")
    assert command_changes([unknown], [known]) == command_changes([known], [unknown]) == ()


def test_a_main_class_that_moved_concerns_who_starts_it_directly():
    (change,) = command_changes((command("a.sh", main="kafka.admin.A"),), (command("a.sh", main="org.apache.A"),))
    assert (change.weight, change.subject, change.where) == (Weight.CHANGES, "kafka.admin.A", "a.sh")
