"""The table of what safe settings cost is what ledgers and offers of runs say."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.model.events import Noted
from harness.scenario.accounts import Account
from harness.scenario.actions import offer as offer_module
from harness.scenario.actions.offer import offer
from harness.scenario.ledger.history import Ledger
from harness.scenario.refs import fixed


@pytest.fixture(scope="module")
def settings():
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    yield importlib.import_module("safe_settings")
    sys.path.remove(folder)
    del sys.modules["safe_settings"]


LINES = """\
S\t0.0\t0\t\t-1
S\t1.0\t1\t\t-1
S\t2.0\t2\t\t-1
S\t9.0\t3\t\t-1
A\t0.2\t0\t0\t0
A\t1.4\t1\t1\t0
A\t8.0\t2\t0\t1
E\t9.5\t3\t_MSG_TIMED_OUT
C\t0.3\t0\t0\t0
L\t20.0\t0\t0\t0
L\t20.0\t0\t1\t2
"""


def test_a_ledgers_entries_are_counted_and_timed(settings):
    kept = settings.kept_of(LINES.splitlines())
    assert (len(kept.sent), len(kept.acknowledged), kept.lost, kept.given_up) == (4, 3, 1, {"_MSG_TIMED_OUT": 1})
    assert sorted(map(round, kept.latencies_ms)) == [200, 400, 6000]
    assert kept.longest_silence == pytest.approx(7.8)
    assert kept.silent_share == pytest.approx(6 / 9)


def test_what_the_ledger_writes_is_what_is_read(settings, tmp_path):
    with Ledger(tmp_path / "ledger.tsv") as ledger:
        ledger.sent([(0, ""), (1, "")])
        ledger.acknowledged([(0, 2, 5)])
        ledger.failed(1, "_MSG_TIMED_OUT")
        ledger.stored([((2, 5), 0)])
    kept = settings.kept_of((tmp_path / "ledger.tsv").read_text().splitlines())
    assert (kept.sent.keys(), kept.acknowledged.keys(), kept.stored) == ({0, 1}, {0}, {0})
    assert (kept.given_up, [*kept.answers]) == ({"_MSG_TIMED_OUT": 1}, [2])


def test_offers_are_counted_by_their_acks_as_the_plan_notes_them(settings, monkeypatch):
    answers = ["none", "none", "not_enough_replicas", "request_timed_out"]
    monkeypatch.setattr(offer_module, "offer_record", lambda *_: answers.pop(0))
    notes, account = [], Account()
    world = SimpleNamespace(
        cluster=SimpleNamespace(brokers={1: None}, wire=None),
        account=lambda _: account,
        offered={},
        as_client=lambda work: work(),
        note=lambda text, _: notes.append(Noted(text)),
    )
    world.cluster.brokers[1] = "h:1"
    for records, acks in ((2, "1"), (1, "all"), (1, "all")):
        offer("bar", fixed(1, "a broker"), records, acks=acks).perform(world)
    assert settings.offers_of([*notes, Noted("something else")]) == {
        "1": {"taken": 2},
        "all": {"taken": 0, "not_enough_replicas": 1, "request_timed_out": 1},
    }


def test_the_table_has_a_column_for_each_promise_and_a_row_for_each_refusal(settings):
    def run(late):
        kept = settings.kept_of(LINES.replace("A\t0.2", f"A\t{late}").splitlines())
        one = settings.Column("acks=1, without idempotence", kept, {"taken": 30})
        return [one, settings.Column("acks=all, idempotently", kept, {"taken": 5, "not_enough_replicas": 1})]

    shown = settings.table([run(0.2), run(0.3)]).splitlines()
    assert shown[0] == "| 2 runs | acks=1, without idempotence | acks=all, idempotently |"
    assert "| lost | 1 | 1 |" in shown
    assert "| refused, not_enough_replicas | 0 | 1 |" in shown
    assert "| offered to one broker alone: taken | 30 | 5 |" in shown
    assert "| longest time without an answer from a partition, s | 7.8 (7.7 to 7.8) | 7.8 (7.7 to 7.8) |" in shown
