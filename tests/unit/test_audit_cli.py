"""`harness audit` as a user meets it: every answer with its place, and exit codes that can be relied on."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import app as cli
from harness.model.proof import Answer, AuditAnswer
from harness.stages import audit as stage

PATCHED = Path(__file__).parent / "audit-fixtures" / "patched"
CLIENT = "raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java"


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        code = cli._run()
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def checkout(tmp_path):
    return shutil.copytree(PATCHED, tmp_path / "kafka")


def test_kept_promises_end_in_0_and_gaps_are_reported(harness, checkout):
    code, out, _ = harness("audit", "--sources", checkout)
    assert code == 0
    assert "holds    list-is-read-once  promised by list-is-used-whole" in out
    assert "gap      every-update-refreshes\n" in out
    assert f"{CLIENT}:32  partitionState.updateState();" in out
    assert (
        "6 of 6 promised questions hold; of 6 that no claim promises 5 do not hold and are only shown (one-thr" in out
    )


def test_a_broken_promise_ends_in_1(harness, checkout):
    source = checkout / CLIENT
    source.write_text(source.read_text().replace("!quorumConfig.dynamicBootstrapServersEnabled() || ", ""))
    code, out, _ = harness("audit", "--sources", checkout)
    assert code == 1
    assert "refuted  flag-guards-the-refresh  promised by flag-turns-it-off" in out


@pytest.fixture
def answering(monkeypatch):
    """Return a function that says what the release and the series answer."""

    def say(stock, series):
        monkeypatch.setattr(stage, "audit_release", lambda version, _: stock if version == "3.9.1" else ())
        monkeypatch.setattr(stage, "audit_series", lambda claims, folder, _: series)

    return say


OPEN = AuditAnswer("list-is-set-at-construction", Answer.DOES_NOT_HOLD, "It is written later.")
KEPT = AuditAnswer("list-is-read-once", Answer.HOLDS, "It is.", "list-is-used-whole")


@pytest.mark.parametrize("options", [(), ("--series", "dynamic-bootstrap-v2")])
def test_the_release_answers_first_and_decides_nothing(harness, answering, options):
    answering((OPEN,), (KEPT,))
    code, out, err = harness("audit", *options)
    assert code == 0, err
    name = options[-1] if options else "dynamic-bootstrap"
    order = ["Kafka 3.9.1 as released\n\ngap      list-is-set-at", f"\n\nThe series {name}\n\nholds    list-is-read"]
    assert out.startswith(order[0])
    assert order[1] in out
    answering((replace(OPEN, claim="somebody-s"),), (KEPT,))
    assert harness("audit", *options)[0] == 0
    answering((OPEN,), (AuditAnswer(KEPT.question, Answer.DOES_NOT_HOLD, "It is not.", KEPT.claim),))
    assert harness("audit", *options)[0] == 1


def test_where_the_release_is_asked_nothing_the_series_answers_alone(harness, answering):
    answering((), (KEPT,))
    code, out, _ = harness("audit")
    assert (code, out.splitlines()[0]) == (0, "holds    list-is-read-once  promised by list-is-used-whole")


def test_of_sources_and_of_a_jar_the_release_is_not_asked(harness, answering, checkout):
    answering((OPEN,), ())
    assert "as released" not in harness("audit", "--sources", checkout)[1]


def test_claims_of_ones_own_bring_their_own_questions(harness, checkout, tmp_path):
    claims = tmp_path / "claims.toml"
    claims.write_text(
        'jar = "kafka-raft"\n[[claim]]\nid = "a"\nsays = "b"\nsource = "c"\nqueries = ["q"]\n'
        '[[question]]\nid = "q"\nask = "kept"\nconstructor = "RequestManager(int)"\n'
    )
    code, out, _ = harness("audit", "--sources", checkout, "--claims", claims)
    assert code == 1
    assert "There is no public constructor RequestManager(int)" in out
    assert "list-is-read-once" not in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--sources", "kafka", "--jar", "x.jar"), "--sources and --jar do not go together"),
        (("--sources", "."), "has no folder raft/src/main/java"),
        (("--claims", "nowhere.toml"), "The claims file nowhere.toml cannot be read"),
        (("--series", "nowhere"), "No patch series is named 'nowhere'"),
    ],
)
def test_a_mistake_is_answered_with_a_sentence_and_exit_code_2(harness, checkout, arguments, sentence):
    code, _, err = harness("audit", *arguments)
    assert code == 2
    assert sentence in " ".join(err.split())


def test_what_hostile_sources_hold_cannot_act_on_a_terminal(harness, checkout):
    source = checkout / CLIENT
    source.write_text(source.read_text().replace("updateState();", "updateState(); // \x1b[31m\u202e", 1))
    _, out, _ = harness("audit", "--sources", checkout)
    assert "\x1b" not in out
    assert r"\x1b[31m\u202e" in out
