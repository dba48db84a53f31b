"""Configuration keys of two Kafkas: what a file of an operator's sets in vain, what a node refuses, what is new."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upgrade_sample import key, server

from harness.base.errors import HarnessError
from harness.building.every_config import parse_every_config
from harness.model.kafka_inventory import REQUIRED, ConfigOwner, DeclaredKey
from harness.model.operator_changes import Weight
from harness.upgrade.accepted_values import narrowing
from harness.upgrade.config_changes import config_changes


def only(base, candidate):
    (change,) = config_changes(base, candidate)
    return change


def owner(name, *keys):
    return ConfigOwner(f"org.apache.kafka.some.{name}", keys)


def test_a_key_that_is_gone_breaks_a_file_that_sets_it_without_a_word():
    gone = only(server(key("zookeeper.connect", "STRING", "null"), key("a")), server(key("a")))
    assert (gone.weight, gone.subject, gone.where) == (Weight.BREAKS, "zookeeper.connect", "server.properties")
    assert (gone.base, gone.candidate) == ("string, default null", "")
    assert "has no effect" in gone.means


def test_a_topic_with_a_key_that_is_gone_is_refused():
    gone = only((owner("LogConfig", key("message.format.version"), key("a")),), (owner("LogConfig", key("a")),))
    assert gone.where == "topic"
    assert "refused" in gone.means


def test_a_key_that_was_deprecated_says_so_when_it_is_gone():
    assert only(server(key("x", deprecated=True), key("a")), server(key("a"))).means.startswith("It was deprecated.")


def test_a_new_key_alike_in_all_but_its_name_is_named_for_one_that_is_gone():
    old, new = (
        key("metadata.log.segment.min.bytes", default="8388608"),
        key("metadata.log.segment.min.byte", default="8388608"),
    )
    gone, added = config_changes(server(old), server(new))
    assert "It may be metadata.log.segment.min.byte now." in gone.means
    assert added.weight is Weight.ADDS


@pytest.mark.parametrize("default", ["2", "1 "])
def test_another_default_changes_what_happens_where_nobody_sets_it(default):
    change = only(server(key("x")), server(key("x", default=default)))
    assert (change.weight, change.base, change.candidate, change.by_default) == (Weight.CHANGES, "1", default, True)


def test_a_default_that_became_a_list_of_itself_is_the_same():
    (change,) = config_changes(server(key("x", "STRING", "a")), server(key("x", "LIST", "[a]")))
    assert (change.base, change.candidate) == ("STRING", "LIST")
    assert config_changes(server(key("x", "LIST", "null")), server(key("x", "LIST", "[]"))) == ()
    assert len(config_changes(server(key("x", "STRING", "null")), server(key("x", "STRING", "")))) == 1


def test_a_key_that_must_be_set_now_breaks():
    assert only(server(key("x")), server(key("x", default=REQUIRED))).weight is Weight.BREAKS
    assert only(server(key("a")), server(key("a"), key("x", default=REQUIRED))).weight is Weight.BREAKS


def test_a_required_key_of_something_new_breaks_nobody():
    assert only((), (owner("NewConverter", key("x", default=REQUIRED)),)).weight is Weight.ADDS


def test_a_wider_type_changes_and_another_one_breaks():
    assert only(server(key("x", "INT")), server(key("x", "LONG"))).weight is Weight.CHANGES
    assert only(server(key("x", "STRING")), server(key("x", "INT"))).weight is Weight.BREAKS


def test_one_change_that_several_places_share_is_said_once_with_the_most_used_first():
    before = [owner(name, key("retries")) for name in ("AdminClientConfig", "ProducerConfig")]
    after = [owner(name, key("retries", default="2")) for name in ("AdminClientConfig", "ProducerConfig")]
    assert only(before, after).where == "producer, admin client"


def test_a_part_of_the_servers_configuration_is_no_place_of_its_own_wherever_it_moves():
    before = (*server(key("log.cleaner.threads")), owner("CleanerConfig", key("log.cleaner.threads")))
    assert config_changes(before, server(key("log.cleaner.threads"))) == ()


def test_what_changes_in_a_part_of_the_servers_configuration_changes_in_server_properties():
    both = [(*server(key("x", default=each)), owner("CleanerConfig", key("x", default=each))) for each in "12"]
    assert only(*both).where == "server.properties"


def test_a_class_that_goes_and_whose_keys_are_elsewhere_takes_nothing_with_it():
    assert config_changes((owner("Old", key("x")),), (owner("New", key("x")),)) == config_changes(
        (), (owner("New", key("x")),)
    )


def test_a_connectors_tasks_are_configured_by_no_operator():
    assert config_changes((), (owner("MirrorSourceTaskConfig", key("task.x", default=REQUIRED)),)) == ()


def test_a_new_validator_that_refuses_values_breaks():
    change = only(server(key("x", validator="[12,...]")), server(key("x", validator="[8388608,...]")))
    assert (change.weight, change.base, change.candidate) == (Weight.BREAKS, "[12,...]", "[8388608,...]")


@pytest.mark.parametrize(
    ("before", "after", "refuses"),
    [
        ("[0,...]", "[1,...]", True),
        ("[0,...,10]", "[0,...,5]", True),
        ("[1,...]", "[0,...]", None),
        ("[a, b]", "[b]", True),
        ("[b]", "[a, b]", None),
        ("", "[0,...]", False),
        ("[0,...]", "", None),
        ("non-empty string", "[a, b]", False),
        ("[0,...,2]", "[0, 1, 2]", False),
        ("[a, b]", "[b] (empty not allowed) (null not allowed)", True),
        ("[b] (empty not allowed) (null not allowed)", "[a, b] (empty not allowed) (null not allowed)", None),
        ("[a, b]", "[a, b] (empty not allowed) (null not allowed)", False),
        ("[a, b] (empty not allowed)", "[a, b] (empty allowed)", None),
        ("", "[] (empty not allowed)", False),
        ("", "[]", None),
        ("[] (empty not allowed)", "[a] (empty not allowed)", False),
        ("[a]", "[]", None),
        ("[none, gzip]", "(case insensitive) [NONE, GZIP]", None),
        ("(case insensitive) [NONE, GZIP]", "[NONE, GZIP]", True),
        ("(case insensitive) [NONE, GZIP]", "(case insensitive) [none]", True),
    ],
)
def test_a_validator_refuses_what_it_accepted_or_only_accepts_more(before, after, refuses):
    found = narrowing(before, after)
    assert (found.refuses if found else None) is refuses


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("[a, b, c]", "[b] (empty not allowed)", "No longer accepted: a, c."),
        ("", "[] (empty not allowed) (null not allowed)", "An empty list is refused now."),
        ("[]", "[b, a]", "Its values are checked now: what is none of a, b is refused."),
        ("(case insensitive) [GZIP]", "[GZIP]", "In other capitals than these its values are refused now: GZIP."),
    ],
)
def test_what_a_validator_of_lists_refuses_is_told_in_values(before, after, says):
    assert narrowing(before, after).sentence == says


values = st.sampled_from(["", "(case insensitive) "]), st.frozensets(st.sampled_from("abAB")), st.booleans()
validators = st.tuples(*values)


@given(validators, validators, st.sampled_from("abAB"))
def test_what_is_said_to_be_only_more_refuses_no_value_that_was_accepted(before, after, value):
    def written(case, accepted, no_empty):
        return f"{case}[{', '.join(sorted(accepted))}]{' (empty not allowed)' if no_empty else ''}"

    def accepts(case, accepted, _):
        return (
            not accepted or value in accepted or (bool(case) and value.lower() in {each.lower() for each in accepted})
        )

    refused = accepts(*before) and not accepts(*after)
    assert not refused or narrowing(written(*before), written(*after)) is not None


def test_a_key_that_need_not_be_set_any_more_is_no_other_value():
    change = only(server(key("x", default=REQUIRED)), server(key("x", default="5")))
    assert (change.weight, change.means) == (Weight.ADDS, "It need not be set any more.")


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_a_range_refuses_something_exactly_when_a_value_falls_out_of_it(low, other, value):
    refuses = narrowing(f"[{low},...]", f"[{other},...]") is not None
    assert refuses or not (value >= low and value < other)
    assert refuses == (other > low)


def test_the_probes_answer_is_read_between_lines_that_a_class_prints():
    keys = [{"name": "x", "type": "INT", "default": "", "validator": "", "importance": "LOW"}]
    marks = {"required": True, "internal": False, "deprecated": True}
    lines = (
        "log4j: no appender",
        json.dumps({"owner": "a.B", "keys": [keys[0] | marks], "failed": ""}),
        json.dumps({"owner": "a.C", "keys": [], "failed": "java.lang.NoClassDefFoundError: x\x1b[31m"}),
    )
    found = parse_every_config("\n".join(lines))
    assert found.owners == (ConfigOwner("a.B", (DeclaredKey("x", "INT", REQUIRED, "", "LOW", deprecated=True),)),)
    assert found.unread == {"a.C": "java.lang.NoClassDefFoundError: x\\x1b[31m"}


def test_half_an_answer_of_the_probe_is_an_error():
    with pytest.raises(HarnessError, match="cannot be read"):
        parse_every_config('{"owner": "a.B", "keys": [')


@pytest.mark.parametrize("line", ['{"owner": "a.B"}', '{"owner": "a.B", "keys": [3], "failed": ""}', '{"used": 3}'])
def test_a_line_of_the_classs_own_that_looks_like_an_answer_is_an_error(line):
    with pytest.raises(HarnessError, match="cannot be read"):
        parse_every_config(line)


@pytest.mark.parametrize("name", ["KafkaConfig", "LogConfig", "Other"])
def test_a_plugins_class_with_the_name_of_one_of_kafkas_is_a_place_of_its_own(name):
    plugin = ConfigOwner(f"com.acme.audit.{name}", (key("audit.file"),))
    gone = only((*server(key("a")), plugin), server(key("a")))
    assert (gone.where, "refused" in gone.means) == (f"com.acme.audit.{name}", False)
