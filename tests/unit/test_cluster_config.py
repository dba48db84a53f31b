"""Server properties: what the cluster owns, and reading what users wrote."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.cluster.address import Address
from harness.cluster.config import NodeConfig, load_overlay, parse_properties, properties_text, server_properties

ONE, OTHER = Address("192.0.2.1", 20001), Address("node-1.example", 20003)
VOTER = NodeConfig(0, Address("192.0.2.1", 20000), ONE, {0: ONE, 1: OTHER})
OBSERVER = NodeConfig(3, Address("192.0.2.4", 20008), None, {0: ONE, 1: OTHER})


def properties(node, overlay=None, **options):
    return parse_properties(server_properties(node, Path("/data"), overlay or {}, **options))


def test_a_voter_listens_as_broker_and_as_controller():
    assert properties(VOTER)["listeners"] == "BROKER://192.0.2.1:20000,CONTROLLER://192.0.2.1:20001"
    assert properties(VOTER)["process.roles"] == "broker,controller"


def test_an_observer_listens_as_broker_only_and_names_every_voter():
    assert properties(OBSERVER)["listeners"] == "BROKER://192.0.2.4:20008"
    assert properties(OBSERVER)["process.roles"] == "broker"
    assert properties(OBSERVER)["controller.quorum.voters"] == "0@192.0.2.1:20001,1@node-1.example:20003"


def test_formatting_names_bootstrap_servers_because_the_tool_refuses_voters():
    formatted = properties(VOTER, formatting=True)
    assert "controller.quorum.voters" not in formatted
    assert formatted["controller.quorum.bootstrap.servers"] == "192.0.2.1:20001,node-1.example:20003"


def test_the_users_overlay_is_kept_but_never_wins_over_the_cluster():
    laid = properties(VOTER, {"num.io.threads": "2", "node.id": "9"})
    assert (laid["num.io.threads"], laid["node.id"]) == ("2", "0")


def test_an_overlay_with_owned_keys_is_refused_by_name(tmp_path):
    file = tmp_path / "my.properties"
    file.write_text("log.dirs=/x\nnum.io.threads=2\nmy.flag=true\nnode.id=1\n")
    with pytest.raises(HarnessError, match=r"sets log\.dirs, my\.flag, node\.id"):
        load_overlay(file, frozenset({"my.flag"}))


def test_an_overlay_that_is_not_text_is_refused(tmp_path):
    file = tmp_path / "my.properties"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HarnessError, match="cannot be read as a properties file"):
        load_overlay(file, frozenset())


def test_a_missing_overlay_is_refused_with_its_path(tmp_path):
    with pytest.raises(HarnessError, match="nowhere"):
        load_overlay(tmp_path / "nowhere", frozenset())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1\nb:2\nc 3\n", {"a": "1", "b": "2", "c": "3"}),
        ("# note\n! note\n\n  a = 1 \n", {"a": "1 "}),
        ("a=1,\\\n   2\n", {"a": "1,2"}),
        ("a\\=b=c\\u0041\\n\n", {"a=b": "cA\n"}),
        ("a=1\na=2\n", {"a": "2"}),
        ("path=C\\:\\\\x\n", {"path": "C:\\x"}),
        ("alone\n", {"alone": ""}),
    ],
)
def test_properties_are_read_as_java_reads_them(text, expected):
    assert parse_properties(text) == expected


TEXTS = st.text(max_size=30)


@given(TEXTS.filter(bool), TEXTS)
def test_whatever_key_and_value_are_written_are_read_back_and_java_reads_them_from_its_own_character_set(key, value):
    written = properties_text({key: value})
    written.encode("ascii")
    assert parse_properties(written) == {key: value}


def test_a_path_that_is_not_ascii_is_the_same_to_a_node(tmp_path):
    text = server_properties(OBSERVER, tmp_path / "jürgen", {})
    assert "j\\u00fcrgen" in text
    assert parse_properties(text)["log.dirs"] == str(tmp_path / "jürgen")


@pytest.mark.parametrize(("content", "value"), [("a=j\\u00fcrgen", "jürgen"), ("a=jürgen", "jÃ¼rgen")])
def test_an_overlay_means_to_the_harness_what_it_means_to_kafka(tmp_path, content, value):
    file = tmp_path / "my.properties"
    file.write_text(content, encoding="utf-8")
    assert load_overlay(file, frozenset()) == {"a": value}
