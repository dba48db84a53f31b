"""Digests of the rules: another rule is another digest, and nothing else is."""

from pathlib import Path

from harness.stages import rules_digest
from harness.stages.rules_digest import (
    digest_of,
    digest_of_texts,
    judging_digest,
    making_digest,
    making_digest_with,
)


def test_another_content_another_name_and_another_file_are_another_digest(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    (rules / "deep").mkdir(parents=True)
    (rules / "deep" / "one.py").write_text("1")
    first = digest_of([rules])
    assert digest_of([rules]) == first
    (rules / "deep" / "one.py").write_text("2")
    changed = digest_of([rules])
    (rules / "deep" / "one.py").rename(rules / "deep" / "two.py")
    renamed = digest_of([rules])
    (rules / "more.toml").write_text("")
    assert len({first, changed, renamed, digest_of([rules])}) == 4


def test_what_python_compiles_is_no_rule(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("1")
    first = digest_of([tmp_path])
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "one.pyc").write_text("x")
    assert digest_of([tmp_path]) == first


def test_making_and_judging_are_rules_of_their_own() -> None:
    assert making_digest() != judging_digest()


def test_texts_in_another_order_or_cut_elsewhere_are_others() -> None:
    assert len({digest_of_texts(texts) for texts in (["a", "b"], ["b", "a"], ["ab"], ["a", "", "b"])}) == 4


def test_a_file_of_its_own_is_a_rule_as_a_folder_is(tmp_path: Path) -> None:
    file = tmp_path / "rounds.py"
    file.write_text("1")
    first = digest_of([file])
    file.write_text("2")
    assert digest_of([file]) != first != digest_of([])


def test_what_counts_after_which_runs_is_a_rule_of_judging() -> None:
    assert {path.name for path in rules_digest._JUDGING} >= {"judge", "rounds.py", "detecting.py"}
    assert all(path.exists() for path in (*rules_digest._JUDGING, *rules_digest._MAKING))


def test_a_scenario_of_ones_own_that_is_written_otherwise_is_another_rule_though_its_steps_read_alike(tmp_path):
    verbs = tmp_path / "verbs.py"
    verbs.write_text("WRONG = True")
    before = making_digest_with([tmp_path])
    assert before == making_digest_with([tmp_path]) != making_digest()
    verbs.write_text("WRONG = False")
    assert making_digest_with([tmp_path]) != before
    assert making_digest_with([]) == making_digest()


def test_what_a_run_writes_below_the_folder_of_ones_own_scenarios_is_no_rule(tmp_path):
    (tmp_path / "verbs.py").write_text("RIGHT = True")
    before = making_digest_with([tmp_path])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "generated.py").write_text("x")
    (tmp_path / "notes.md").write_text("x")
    assert making_digest_with([tmp_path]) == before


def test_what_is_asked_of_stocks_source_is_no_rule_of_judging_and_what_stock_logs_is(tmp_path, monkeypatch):
    monkeypatch.setattr(rules_digest, "_BUILDS", tmp_path)
    (tmp_path / "questions").mkdir()
    before = judging_digest.__wrapped__()
    (tmp_path / "questions" / "3.9.toml").write_text("x")
    assert judging_digest.__wrapped__() == before
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "3.9.json").write_text("x")
    assert judging_digest.__wrapped__() != before
