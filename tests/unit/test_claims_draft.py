"""`harness claims init`: a draft names what a jar changes, loads as it is, and is harmless whatever the jar names."""

import sys
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_proof_dropin import CONFIG, MANY, MESSAGE, STATE, facts, method

from harness.audit.claims_draft import JarChanges, ScenarioChoice, draft_claims
from harness.audit.claims_file import parse_claims
from harness.building.configdef import ConfigKey
from harness.cli import app as cli
from harness.kafka.release_lines import Mode
from harness.model.arms import Role
from harness.proof.bytecode import LogStatement
from harness.proof.dropin.class_changes import CompiledBaseline
from harness.scenario.registry import load_all
from harness.stages.claims_draft import changed_classes, choices, new_statements

SCENARIOS = [
    ScenarioChoice("turn1", "Does it keep following?", ("observer_recovers",)),
    ScenarioChoice("turn2", "Does it find the leader?", ("observer_recovers", "metadata_reaches_observer")),
]
FLAG = ConfigKey("some.enable", "BOOLEAN", "true", "LOW")
REFRESH = LogStatement("org/apache/kafka/raft/KafkaRaftClient", "INFO", "Updated servers to: {} ({})")
CHANGES = JarChanges({"org.apache.kafka.raft.KafkaRaftClient": "methods changed poll"}, (FLAG,), (REFRESH,))


def draft(changes=CHANGES):
    return draft_claims("new.jar", "Kafka 3.9.1's own", changes, SCENARIOS)


def test_the_draft_loads_as_it_is_with_one_claim_to_edit():
    claims = parse_claims(draft().encode(), "draft")
    assert (claims.flag, claims.flag_default) == ("some.enable", "true")
    assert claims.classes == ("org.apache.kafka.raft.KafkaRaftClient",)
    (claim,), (chain,) = claims.claims, claims.chains
    assert claim.scenario == "turn1"
    assert {role: str(each) for role, each in claim.expected.items()} == {
        Role.BASE: "FAILED(observer_recovers)",
        Role.OFF: "FAILED(observer_recovers)",
        Role.ON: "PASSED",
    }
    assert chain.evidence == "Updated servers to: .* \\(.*\\)"


def test_every_scenario_to_choose_from_stands_beside_the_claim_with_what_it_may_fail():
    assert "# turn2, may be FAILED(observer_recovers) or FAILED(metadata_reaches_observer): Does it find" in draft()
    names = [each.name for each in choices([*load_all().values()])]
    assert {"turn1", "turn2", "new-mechanism"} <= {*names}


def test_the_draft_names_a_scenario_that_any_jar_is_asked_and_stock_fails_and_those_in_zookeeper_mode_come_last():
    known = load_all()
    first, *_, last = (known[each.name] for each in choices([*known.values()]))
    assert "bootstrap" in first.suites
    assert first.expected
    assert last.topology.mode is Mode.ZOOKEEPER


def test_the_draft_for_one_class_and_a_flag_is_short():
    content = [line for line in draft().splitlines() if line and not line.lstrip().startswith("#")]
    assert len(content) <= 16, content


def test_without_keys_and_statements_the_draft_claims_by_the_scenario_alone():
    claims = parse_claims(draft(JarChanges({"a.B": "methods changed c"}, (), ())).encode(), "draft")
    assert (claims.flag, claims.chains[0].evidence, claims.classes) == ("", "", ("a.B",))
    assert Role.OFF not in claims.claims[0].expected


def test_what_only_a_debug_log_would_hold_is_no_evidence_and_is_shown():
    quiet = replace(REFRESH, level="DEBUG")
    text = draft(replace(CHANGES, statements=(quiet, replace(REFRESH, level="ERROR", text="Lost it"))))
    (chain,) = parse_claims(text.encode(), "draft").chains
    assert (chain.evidence, chain.level) == ("Lost it", "error")
    assert "# also new: DEBUG KafkaRaftClient: Updated servers to: {} ({})" in text


def test_a_key_that_is_no_switch_is_shown_and_no_flag():
    text = draft(replace(CHANGES, keys=(ConfigKey("some.ms", "INT", "5", "LOW"),)))
    assert parse_claims(text.encode(), "draft").flag == ""
    assert "# new key: some.ms (INT, default 5)" in text


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60), st.sampled_from(["INFO", "WARN", "TRACE"]))
@example("jar", "\n", "text", "INFO")
def test_whatever_a_jar_names_its_draft_loads_and_cannot_act_on_a_terminal(jar, name, text, level):
    changes = JarChanges({name or "x": text}, (replace(FLAG, name=name or "x"),), (LogStatement(name, level, text),))
    drafted = draft_claims(jar, jar, changes, SCENARIOS)
    assert not set(drafted) & {"\x1b", "\x00", "\r"}
    parse_claims(drafted.encode(), "draft")


def test_changed_classes_are_named_with_what_changed_and_message_classes_are_not():
    changed = {
        **MANY,
        STATE: facts(STATE, method(code="c2")),
        f"{STATE}$Inner": facts(f"{STATE}$Inner", method()),
        CONFIG: facts(CONFIG, method()),
        MESSAGE: facts(MESSAGE, method()),
    }
    assert changed_classes(MANY, changed, [CompiledBaseline("base", MANY)]) == {
        "org.apache.kafka.raft.FollowerState": "classes added Inner; methods changed size; methods added Inner.size",
        "org.apache.kafka.raft.QuorumConfig": "new",
    }


def test_what_may_be_an_unknown_compilers_doing_is_no_change():
    base = {name: MANY[name] for name in list(MANY)[:2]}
    by_another = {name: facts(name, method(code="by another")) for name in base}
    assert changed_classes(base, by_another, [CompiledBaseline("base", base)]) == {}


def test_a_statement_is_new_when_no_class_of_base_logs_it_at_this_level():
    moved, louder = replace(REFRESH, owner="a/B"), replace(REFRESH, level="ERROR")
    assert new_statements(frozenset([REFRESH]), frozenset([REFRESH, moved, louder])) == (louder,)


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        return (cli._run(), *capsys.readouterr())

    return run


def test_a_file_that_is_there_is_left_alone(harness, tmp_path):
    (tmp_path / "claims.toml").write_text("mine")
    code, _, err = harness("claims", "init", "--jar", "new.jar")
    assert (code, (tmp_path / "claims.toml").read_text()) == (2, "mine")
    assert "claims.toml is there already" in err


def test_what_is_no_jar_is_answered_in_a_sentence(harness, tmp_path):
    (tmp_path / "new.jar").write_text("not a jar")
    code, _, err = harness("claims", "init", "--jar", "new.jar")
    assert (code, (tmp_path / "claims.toml").exists()) == (2, False)
    assert err.startswith("error: ")
