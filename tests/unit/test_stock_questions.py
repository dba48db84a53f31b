"""What is asked of a release before any patch: of lines whose source was read, and of no other."""

import pytest

from harness.audit import stock_questions as stock
from harness.audit.claims_file import load_claims, parse_nobodys_questions
from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.kafka.series import shipped_series
from harness.stages.audit import audit_release

ASKED = '[[question]]\nid = "q"\nask = "set-once"\nfield = "C.list"\n'


def test_a_line_that_was_read_has_questions_that_nobody_promises():
    found = stock.stock_questions("3.9.1")
    assert found == stock.stock_questions("3.9.0")
    assert found.jar == "kafka-raft"
    assert {type(each.ask).__name__ for each in found.questions} == {"SetOnce", "UsedIn", "Default", "OneThread"}
    assert not any(each.claim for each in found.questions)
    assert (found.claims, found.chains, found.flag) == ((), (), "")


def test_every_line_with_a_file_has_a_series_that_is_asked_beside_it():
    lines = {path.stem for path in (data_root() / "builds" / "questions").iterdir()}
    assert lines
    assert lines <= {series.partition("/")[0].rpartition(".")[0] for series in shipped_series()}


def test_a_line_that_was_not_read_is_asked_nothing():
    assert stock.stock_questions("2.8.2") is None
    assert audit_release("2.8.2", downloads=None) == ()


def test_the_files_are_found_where_the_harness_has_its_data(tmp_path, monkeypatch):
    monkeypatch.setattr(stock, "data_root", lambda: tmp_path)
    assert stock.stock_questions("3.9.1") is None
    folder = tmp_path / "builds" / "questions"
    folder.mkdir(parents=True)
    (folder / "3.9.toml").write_text(f'jar = "kafka-raft"\n{ASKED}')
    assert [each.id for each in stock.stock_questions("3.9.1").questions] == ["q"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (ASKED, "3.9.toml: the file lacks jar"),
        ('jar = "kafka-raft"', "the file lacks question"),
        (f'jar = "kafka-streams"\n{ASKED}', "'kafka-streams' is not a module that can be judged"),
        (f'jar = "kafka-raft"\n{ASKED}[[claim]]\nid = "a"', "the file has claim; allowed are jar, question"),
        (f'jar = "kafka-raft"\n{ASKED}{ASKED}', "question id q is used twice"),
        ('jar = "kafka-raft"\n' + ASKED.replace("C.list", "list"), "question 1, field: 'list' is not Class.member"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(content, complaint):
    with pytest.raises(HarnessError) as raised:
        parse_nobodys_questions(content.encode(), "3.9.toml")
    assert complaint in str(raised.value)


@pytest.mark.parametrize("series", ["dynamic-bootstrap", "dynamic-bootstrap-v2"])
def test_what_stock_and_a_series_are_both_asked_has_one_name(series):
    claims = load_claims(data_root() / "patches/3.9.1" / series / "claims.toml")
    theirs = {each.id: each.ask for each in claims.questions}
    both = {each.id: each.ask for each in stock.stock_questions("3.9.1").questions if each.id in theirs}
    assert list(both) == ["one-thread-asks-for-servers"]
    assert all(theirs[name] == ask for name, ask in both.items())
