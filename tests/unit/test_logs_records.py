"""Records survive the trip through JSON, and damaged JSON is refused with a place."""

import dataclasses

import pytest
from examples import costly
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.model.arms import Arm, Build, Flag
from harness.model.claims import Claim, Expected
from harness.model.findings import Contrast, Finding
from harness.model.node_logs import NodeLogs, PhaseSpan
from harness.model.runs import Evidence, RunKey, RunResult

RECORDS = [Flag, Build, Arm, RunKey, Evidence, RunResult, Expected, Claim, Finding, Contrast, PhaseSpan, NodeLogs]

st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: cls.__name__)
def test_every_model_record_comes_back_equal_from_its_json(cls):
    @costly
    @given(st.from_type(cls))
    def round_trip(record):
        assert record == from_json(cls, to_json(record))

    round_trip()


def test_a_tuple_of_records_comes_back_equal():
    spans = (PhaseSpan("start", 0.0, 1.5), PhaseSpan("stop", 1.5, 2.0))
    assert spans == from_json(tuple[PhaseSpan, ...], to_json(spans))


def test_the_order_in_which_a_mapping_was_filled_does_not_change_the_bytes():
    @dataclasses.dataclass(frozen=True)
    class Record:
        counts: dict[str, int]

    assert to_json(Record({"a": 1, "b": 2})) == to_json(Record({"b": 2, "a": 1}))


def test_a_field_that_has_a_default_may_be_missing():
    assert Evidence("x") == from_json(Evidence, '{"path": "x"}')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "Not valid JSON"),
        ('{"line": 3}', "fields of Evidence"),
        ('{"path": "x", "colour": 1}', "fields of Evidence"),
        ('{"path": 3}', r"\$\.path: expected str"),
        ('{"path": "x", "line": true}', r"\$\.line: expected int"),
        ("[]", "expected Evidence"),
    ],
)
def test_json_that_is_no_such_record_is_refused_with_its_place(text, says):
    with pytest.raises(HarnessError, match=says):
        from_json(Evidence, text)


def test_an_unknown_word_of_an_enum_is_refused():
    with pytest.raises(HarnessError, match=r"\$\.outcome: expected one of"):
        from_json(Expected, '{"outcome": "FINE"}')
