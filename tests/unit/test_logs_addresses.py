"""Addresses and brokers of a run are counted by whose and who they are: their ports and numbers tell nothing."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from harness.logs.read.event_counts import WHOLE_LOG, Reading, count
from harness.logs.read.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.read.library import Origins
from harness.logs.read.statements import Library, Statement

LAYOUT = compile_layout(KAFKA_DEFAULT)
WHOSE = {
    "127.0.0.1:22001": "<voter's controller>",
    "127.0.0.1:22002": "<voter's left controller>",
    "broker 3 ": "broker <an observer> ",
    "broker 1 ": "broker <a voter> ",
}
TRIED = Statement("a/B.java", 7, "WARN", ("Connection to node ", " (", ") could not be established."), "B")


def events(*messages):
    texts = [f"[2026-11-21 14:28:{number:02},949] WARN {text} (a.B)" for number, text in enumerate(messages)]
    return pl.DataFrame({"line": range(len(texts)), "text": texts})


def counted(*messages, names=WHOSE):
    return count(events(*messages), Reading(LAYOUT, (WHOLE_LOG,), names))


def tried(node, port):
    return f"Connection to node {node} (localhost/127.0.0.1:{port}) could not be established."


def test_lines_are_distinguished_by_whose_address_they_name_and_shown_as_they_were_logged():
    found = counted(tried(1, 22001), tried(2, 22001), tried(1, 22002), tried(1, 29999))
    assert found.select("template", "count").rows() == [
        ("Connection to node <n> (localhost/<voter's controller>) could not be established.", 2),
        ("Connection to node <n> (localhost/<voter's left controller>) could not be established.", 1),
        ("Connection to node <n> (<addr>) could not be established.", 1),
    ]
    assert [excerpt.partition("WARN ")[2] for excerpt in found["excerpt"]] == [
        f"{tried(node, port)} (a.B)" for node, port in ((1, 22001), (1, 22002), (1, 29999))
    ]


def test_who_was_fenced_is_reported_by_the_kind_of_node():
    found = counted(*(f"Fencing broker {number} because its session has timed out." for number in (3, 1, 3, 31)))
    assert found.select("template", "count").rows() == [
        ("Fencing broker <an observer> because its session has timed out.", 2),
        ("Fencing broker <a voter> because its session has timed out.", 1),
        ("Fencing broker <n> because its session has timed out.", 1),
    ]


def test_logs_of_no_known_run_are_counted_by_masks_alone():
    assert counted(tried(1, 22001), tried(1, 22002), names={})["count"].to_list() == [2]


def test_keys_of_a_dump_name_whose_addresses_they_hold():
    dump = "KafkaConfig values: \n\tquorum.voters = [0@127.0.0.1:22001, 1@127.0.0.1:22002]\n\tx.y = 7\n"
    found = counted(dump).filter(part="item")
    assert found["template"].to_list() == [
        "KafkaConfig: quorum.voters = [<n>@<voter's controller>, <n>@<voter's left controller>]",
        "KafkaConfig: x.y = <n>",
    ]
    assert found["excerpt"].to_list() == ["quorum.voters = [0@127.0.0.1:22001, 1@127.0.0.1:22002]", "x.y = 7"]


def test_what_stood_in_a_gap_of_a_statement_is_whose_address_it_was():
    reading = Reading(LAYOUT, (WHOLE_LOG,), WHOSE)
    shown = Origins(Library((TRIED,))).with_origins(counted(tried(1, 22001), tried(1, 22002)), reading)
    assert [values[1] for values in shown["values"].to_list()] == [
        "localhost/<voter's controller>",
        "localhost/<voter's left controller>",
    ]


@given(st.permutations(range(6)), st.lists(st.sampled_from(["22001", "22002", "22003"]), min_size=6, max_size=6))
def test_which_ports_a_run_had_changes_nothing(order, ports):
    """Two runs that log the same of the same kinds of addresses give the same templates, whatever the ports are."""
    other = {"22001": "15000", "22002": "32767", "22003": "22222"}
    moved = {address[:-5] + other[address[-5:]]: name for address, name in WHOSE.items() if address[-5:] in other}
    here = counted(*(tried(order[at], port) for at, port in enumerate(ports)))
    there = counted(*(tried(at, other[port]) for at, port in enumerate(ports)), names=moved)
    assert here.select("template", "count").equals(there.select("template", "count"))


def test_a_line_of_a_dump_that_looks_like_a_trace_by_an_address_alone_is_counted_like_the_others():
    found = counted("KafkaConfig values: \n at 127.0.0.1:22001(x)\n b.c = 2\n").filter(part="item")
    assert found["template"].to_list() == ["KafkaConfig: b.c = <n>"]
