"""What classes make of their keys: the probe's lines, and two jars' answers side by side; no JVM."""

import json
from dataclasses import replace

import pytest

from harness.building import java_programs
from harness.building.config_uses import ConfigUse, Reading, Setting
from harness.building.configdef import Probe
from harness.building.every_config import EveryConfig, parse_every_config, read_every_config, read_used_config
from harness.model.kafka_inventory import ConfigOwner, DeclaredKey
from harness.model.proof import Severity
from harness.proof.dropin.config_keys import compare_configurations
from harness.proof.dropin.config_uses import compare_uses
from harness.toolbox.java import JavaRuntime

OWNER = "a.Quorum"
DEFAULTS = {"election": "1000", "backoff": "1000"}
ELECTION, BACKOFF = Setting("election.ms", "1001"), Setting("backoff.ms", "1001")
BASE = ConfigUse(
    DEFAULTS, {ELECTION: Reading({"election": "1001"}), BACKOFF: Reading({"backoff": "1001"})}, {}, failed=""
)
IPV6, MALFORMED = Setting("servers", "[::1]:9093"), Setting("servers", "h.invalid")


def compare(candidate, base=BASE):
    return [(each.rule, each.where) for each in compare_uses(OWNER, base, candidate)]


def reading(**reads):
    named = {"election": ELECTION, "backoff": BACKOFF}
    return replace(BASE, reads={**BASE.reads, **{named[name]: found for name, found in reads.items()}})


def answering(ipv6="", malformed="ConfigException"):
    return ConfigUse(refused={IPV6: ipv6, MALFORMED: malformed})


# --- what is read


def test_a_class_that_reads_its_keys_alike_is_no_difference():
    assert compare(BASE) == []


def test_two_keys_with_equal_defaults_that_are_swapped_are_both_told():
    swapped = reading(election=Reading({"backoff": "1001"}), backoff=Reading({"election": "1001"}))
    assert compare(swapped) == [("config-read-otherwise", key) for key in ("backoff.ms", "election.ms")]
    found = next(compare_uses(OWNER, BASE, swapped))
    assert found.severity is Severity.FAIL
    said = "with backoff.ms=1001 of a.Quorum backoff() is 1000; with base backoff() is 1001"
    assert (found.detail, found.base, found.candidate) == (said, "backoff() is 1001", "backoff() is 1000")


@pytest.mark.parametrize(
    "read", [Reading(), Reading({"election": "2002"}), Reading(failed="java.lang.IllegalArgumentException")]
)
def test_a_key_that_is_ignored_read_otherwise_or_refused_is_told(read):
    assert compare(reading(election=read)) == [("config-read-otherwise", "election.ms")]


def test_a_value_that_no_getter_shows_must_still_give_an_instance():
    base = reading(election=Reading())
    (found,) = compare_uses(OWNER, base, reading(election=Reading(failed="a.B")))
    assert (found.rule, found.where) == ("config-read-otherwise", "election.ms")
    assert found.detail == "with election.ms=1001 no a.Quorum is made: a.B"


def test_of_several_values_of_a_key_one_is_told():
    lower = Setting("election.ms", "999")
    base = replace(BASE, reads={ELECTION: Reading({"election": "1001"}), lower: Reading({"election": "999"})})
    assert len(compare(replace(base, reads={ELECTION: Reading(), lower: Reading()}), base)) == 1


def test_only_keys_values_and_getters_of_both_are_compared():
    without = {name: value for name, value in DEFAULTS.items() if name != "election"}
    assert compare(replace(reading(election=Reading()), getters=without)) == [], "its getter is gone"
    assert compare(replace(BASE, reads={Setting("election.ms", "3001"): Reading()})) == [], "another default"
    more = replace(BASE, getters={**DEFAULTS, "flag": "true"})
    assert compare(replace(more, reads={**BASE.reads, Setting("flag", "false"): Reading({"flag": "false"})})) == []


def test_what_base_refuses_too_is_no_difference():
    thrown = reading(election=Reading(failed="ConfigException"))
    assert compare(thrown, thrown) == compare(reading(election=Reading()), thrown) == []
    never = ConfigUse(failed="ConfigException")
    assert compare(never, never) == compare(BASE, never) == []


def test_a_class_that_is_not_made_from_its_defaults_any_more_is_told():
    assert compare(ConfigUse(failed="no answer within 30 s")) == [("config-read-otherwise", OWNER)]


# --- what is accepted


def test_a_value_that_only_the_candidate_refuses_fails():
    (found,) = compare_uses(OWNER, answering(), answering(ipv6="a.B"))
    assert (found.rule, found.severity, found.where) == ("config-changed", Severity.FAIL, "servers")
    assert found.detail == 'servers refuses "[::1]:9093" by a.B, which base accepts'


def test_a_value_that_only_the_candidate_accepts_is_a_warning():
    (found,) = compare_uses(OWNER, answering(), answering(malformed=""))
    assert (found.rule, found.severity) == ("config-accepts-more", Severity.WARNING)


@pytest.mark.parametrize(
    ("value", "severity"),
    [
        ("h.invalid:9093,[::1]:9094", Severity.FAIL),
        ("1@H_h.invalid:9093", Severity.FAIL),
        ("", Severity.FAIL),
        ("1", Severity.FAIL),
        ("-1", Severity.WARNING),
        (":9093", Severity.WARNING),
        ("1@h.invalid", Severity.WARNING),
        ("h h.invalid:9093", Severity.WARNING),
        ("h.invalid:99999", Severity.WARNING),
    ],
)
def test_a_check_that_only_tightens_what_nobody_can_use_is_a_warning(value, severity):
    asked = Setting("servers", value)
    (found,) = compare_uses(OWNER, ConfigUse(refused={asked: ""}), ConfigUse(refused={asked: "a.B"}))
    assert (found.rule, found.severity) == ("config-changed", severity)


def test_a_value_that_both_refuse_is_no_difference_whatever_the_exception():
    assert compare(answering(malformed="IllegalArgumentException"), answering()) == []


def test_a_validator_that_only_one_of_them_has_is_told_by_its_name_alone():
    assert compare(answering(ipv6="a.B"), ConfigUse()) == compare(ConfigUse(), answering()) == []


# --- of whole jars


def configured(uses, unread=None, owner=OWNER):
    key = DeclaredKey("election.ms", "INT", "1000", "", "HIGH")
    return EveryConfig((ConfigOwner(owner, (key,)),), unread or {}, uses)


def of_jars(base, candidate):
    return [(each.rule, each.where) for each in compare_configurations(base, candidate, "", "")]


def test_what_classes_make_of_their_keys_is_part_of_the_comparison():
    base = configured({OWNER: BASE})
    assert of_jars(base, base) == []
    assert of_jars(base, configured({OWNER: reading(election=Reading())})) == [("config-read-otherwise", "election.ms")]


def test_a_class_that_ends_the_jvm_when_it_is_made_is_told():
    assert of_jars(configured({OWNER: BASE}), configured({})) == [("config-read-otherwise", OWNER)]


def test_a_class_that_is_gone_or_unreadable_is_told_as_that_alone():
    base = configured({OWNER: BASE})
    assert of_jars(base, EveryConfig((), {})) == [("config-removed", "election.ms")]
    assert of_jars(base, configured({}, {OWNER: "Error"})) == [("config-unreadable", OWNER)]


# --- the probe


def test_the_probes_line_about_a_class_is_read():
    said = {
        "used": OWNER,
        "getters": DEFAULTS,
        "reads": [{"key": "election.ms", "value": "1001", "changed": {"election": "1001"}, "failed": ""}],
        "answers": [{"key": "servers", "value": "h.invalid", "refused": "a.B"}],
        "failed": "",
    }
    found = parse_every_config(f"noise\n{json.dumps(said)}")
    expected = ConfigUse(DEFAULTS, {ELECTION: Reading({"election": "1001"})}, {MALFORMED: "a.B"})
    assert (found.owners, found.uses) == ((), {OWNER: expected})


def test_classes_are_used_in_a_jvm_that_looks_no_name_up_and_those_of_a_whole_kafka_are_not(monkeypatch, tmp_path):
    commands = []

    def answered(command, **_):
        commands.append(command)
        return type("Done", (), {"returncode": 0, "stdout": ""})

    monkeypatch.setattr(java_programs, "run", answered)
    jar, other = tmp_path / "raft.jar", tmp_path / "clients.jar"
    probe = Probe(tmp_path, JavaRuntime(tmp_path, "21"))
    read_used_config(probe, jar, [other])
    read_every_config(probe, [jar, other])
    used, declared = commands
    assert used[-2:] == ["--used", str(jar)]
    assert "-Djdk.net.hosts.file=/etc/hosts" in used
    assert declared[-3:] == ["--every", str(jar), str(other)]
