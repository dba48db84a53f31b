"""Claims files: read strictly, and refused with the key that is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.audit.claims_file import Chain, load_claims, parse_claims, parse_expected
from harness.audit.questions import FollowedBy, KeepsConstructor, Question
from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.model.arms import Role
from harness.model.claims import Expected
from harness.model.runs import Outcome

GOOD = """
jar = "kafka-raft"
flag = "some.key"
flag_default = true

[[claim]]
id = "one"
says = "It works."
source = "A: b"
scenario = "turn2"
[claim.expect]
base = "FAILED(observer_recovers)"
off = "FAILED(observer_recovers)"
on = "PASSED"
"""


def test_a_claim_says_what_every_role_shows():
    claims = parse_claims(GOOD.encode(), "here")
    assert (claims.jar, claims.flag, claims.flag_default) == ("kafka-raft", "some.key", "true")
    assert claims.claims[0].expected == {
        Role.BASE: Expected(Outcome.FAILED, "observer_recovers"),
        Role.OFF: Expected(Outcome.FAILED, "observer_recovers"),
        Role.ON: Expected(Outcome.PASSED),
    }
    assert (claims.claims[0].scenario, claims.claims[0].source) == ("turn2", "A: b")


def test_the_shipped_claims_are_about_scenarios_that_discriminate():
    claims = load_claims(data_root() / "patches/3.9.1/dynamic-bootstrap/claims.toml")
    assert [claim.scenario for claim in claims.claims] == [
        "turn2",
        "new-mechanism",
        "voters-replaced",
        "voters-replaced-by-name",
        "turn1-then-restart",
    ]
    for claim in claims.claims:
        assert claim.expected[Role.BASE] == Expected(Outcome.FAILED, "observer_recovers")
        assert claim.expected[Role.OFF] == claim.expected[Role.BASE]
        assert claim.expected[Role.ON] == Expected(Outcome.PASSED)


def test_a_candidate_without_a_flag_has_no_off_arm_to_claim():
    flagless = GOOD.replace('flag = "some.key"\nflag_default = true\n', "")
    with pytest.raises(HarnessError, match="expect has off; allowed are base, on"):
        parse_claims(flagless.encode(), "here")
    claims = parse_claims(flagless.replace('off = "FAILED(observer_recovers)"\n', "").encode(), "here")
    assert (claims.flag, claims.flag_default) == ("", "")


def test_a_claims_file_names_the_classes_it_changes_and_the_tests_that_fail_by_design():
    claims = parse_claims(
        b'classes = ["org.apache.kafka.raft.QuorumConfig"]\n'
        + GOOD.encode()
        + b'[[test_changed]]\ntest = "QuorumConfigTest#testIllegal"\nreason = "The check is gone by design."\n',
        "here",
    )
    assert claims.classes == ("org.apache.kafka.raft.QuorumConfig",)
    assert claims.tests_changed == {"QuorumConfigTest#testIllegal": "The check is gone by design."}


def test_a_claims_file_need_name_neither_classes_nor_changed_tests():
    claims = parse_claims(GOOD.encode(), "here")
    assert (claims.classes, claims.tests_changed) == ((), {})


@pytest.mark.parametrize(
    ("added", "complaint"),
    [
        ('[[test_changed]]\ntest = "A#b"', "test_changed 1 lacks reason"),
        ('[[test_changed]]\ntest = "A.b"\nreason = "r"', "test_changed 1, test: 'A.b' is not Class#method"),
        ('[[test_changed]]\ntest = "A#b"\nreason = ""', "test_changed 1, reason: it is a text that is not empty"),
        ('[test_changed]\ntest = "A#b"', r"test_changed: write each test_changed as a \[\[test_changed\]\] table"),
        ('[[test_changed]]\ntest = "A#b"\nreason = "r"\n' * 2, "the changed test A#b is used twice"),
    ],
)
def test_a_changed_test_is_a_method_with_a_reason(added, complaint):
    with pytest.raises(HarnessError, match=f"^here: {complaint}"):
        parse_claims(f"{GOOD}\n{added}".encode(), "here")


@pytest.mark.parametrize(
    ("classes", "complaint"),
    [
        ('"QuorumConfig"', "the file, classes: it is a list of texts"),
        ('["QuorumConfig"]', "classes: 'QuorumConfig' is no top-level class with its package"),
        ('["a.Outer$Inner"]', "is no top-level class"),
        ('["a.B", "a.B"]', "the class a.B is used twice"),
    ],
)
def test_classes_are_a_list_of_top_level_classes(classes, complaint):
    with pytest.raises(HarnessError, match=f"^here: .*{complaint.replace('$', '.')}"):
        parse_claims(f"classes = {classes}\n{GOOD}".encode(), "here")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"PASSED"', '"held"', r"claim 1, expect.on: 'held' is neither PASSED nor FAILED"),
        ('"PASSED"', '"INCONCLUSIVE"', "neither PASSED nor FAILED"),
        ('"PASSED"', '"HELD"', "it is called PASSED now"),
        ('"PASSED"', '"REFUTED(askable)"', r"it is called FAILED\(testable\) now"),
        ('"PASSED"', "true", "expect, on: it is a text"),
        ("(observer_recovers)", "()", "neither PASSED nor FAILED"),
        ('on = "PASSED"', 'cm = "PASSED"', "claim 1, expect lacks on"),
        ('id = "one"', 'id = "One!"', "claim 1, id: 'One!'"),
        ('id = "one"', "", "claim 1 lacks id"),
        ('id = "one"', 'id = "one"\nwhy = "x"', "claim 1 has why; allowed are id, says"),
        ('says = "It works."', 'says = ""', "claim 1, says: it is a text"),
        ("[[claim]]", "[claim]", r"claim: write each claim as a \[\[claim\]\] table"),
        ('"kafka-raft"', '"kafka-clients"', "jar: 'kafka-clients' is not a module"),
        ("flag_default = true", 'flag_default = "true"', "flag_default: "),
        ("flag_default = true", "", "flag_default: "),
        ('jar = "kafka-raft"', "", "the file lacks jar"),
        ("flag_default", "flag_defualt", "the file has flag_defualt; allowed are jar, claim, flag, flag_default"),
        ('jar = "kafka-raft"', "jar = ", "here: "),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(old, new, complaint):
    assert old in GOOD
    with pytest.raises(HarnessError, match=rf"^here: .*{complaint.removeprefix('here: ')}"):
        parse_claims(GOOD.replace(old, new, 1).encode(), "here")


def test_an_id_used_twice_is_refused():
    with pytest.raises(HarnessError, match="claim id one is used twice"):
        parse_claims((GOOD + GOOD[GOOD.index("[[claim]]") :]).encode(), "here")


def test_a_file_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(HarnessError, match=r"claims\.toml cannot be read.*--claims none"):
        load_claims(tmp_path / "claims.toml")


@given(st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True))
def test_an_expectation_reads_as_it_is_written(name):
    assert str(parse_expected(f"FAILED({name})")) == f"FAILED({name})"
    assert str(parse_expected("PASSED")) == "PASSED"


@given(st.binary(max_size=100) | st.text(max_size=100).map(str.encode))
def test_no_content_makes_reading_fail_with_anything_but_a_sentence(content):
    with pytest.raises(HarnessError, match=r"^here: "):
        parse_claims(content, "here")


SOURCE_ONLY = (
    GOOD
    + """
[[claim]]
id = "two"
says = "It is so."
source = "A: c"
queries = ["q"]
tests = ["org.example.DynamicTest#works", "DynamicTest#works"]

[[question]]
id = "q"
ask = "followed-by"
calls = ["A.b"]
then = "C.d"

[[question]]
id = "r"
ask = "kept"
constructor = "A(int, String[])"
"""
)


def test_a_claim_may_be_proved_by_the_source_and_by_tests_alone():
    claims = parse_claims(SOURCE_ONLY.encode(), "here")
    assert [claim.id for claim in claims.claims] == ["one"]
    assert [chain.claim for chain in claims.chains] == ["one", "two"]
    assert claims.chains[1].tests == ("org.example.DynamicTest#works", "DynamicTest#works")
    assert claims.questions == (
        Question("q", FollowedBy(("A.b",), "C.d"), claim="two"),
        Question("r", KeepsConstructor("A(int, String[])"), claim=""),
    )


def test_the_chain_of_a_claim_leads_from_its_words_to_its_evidence():
    chained = GOOD.replace('scenario = "turn2"', "scenario = \"turn2\"\nevidence = 'Updated to: \\['")
    chain = parse_claims(chained.encode(), "here").chains[0]
    assert chain == Chain("one", "It works.", "A: b", scenario="turn2", evidence=r"Updated to: \[")


def test_every_shipped_claim_is_asked_of_something_and_the_known_gaps_are_promised_by_none():
    claims = load_claims(data_root() / "patches/3.9.1/dynamic-bootstrap/claims.toml")
    assert {question.id for question in claims.questions if not question.claim} == {
        "one-thread-asks-for-servers",
        "every-update-refreshes",
        "every-truncation-refreshes",
        "every-snapshot-truncation-refreshes",
        "refresh-only-on-change",
        "log-only-on-change",
    }
    assert all(chain.queries or chain.scenario for chain in claims.chains)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('queries = ["q"]', 'queries = ["p"]', "claim two, queries: there is no question p"),
        ('queries = ["q"]', 'queries = ["q", "q"]', "the question q is used twice"),
        ('queries = ["q"]', 'queries = "q"', "claim 2, queries: it is a list of texts"),
        (
            'queries = ["q"]\ntests = ["org.example.DynamicTest#works", "DynamicTest#works"]',
            "",
            "claim 2 lacks scenario",
        ),
        ('"DynamicTest#works"]', '"DynamicTest.works"]', "tests: 'DynamicTest.works' is not Class#method"),
        (
            'queries = ["q"]',
            'queries = ["q"]\nevidence = "x"',
            "claim 2: .*limits go with a scenario",
        ),
        ('scenario = "turn2"', 'scenario = "turn2"\nevidence = "("', r"evidence: '\(' is no regular expression"),
        ('scenario = "turn2"', "scenario = \"turn2\"\nevidence = 'a{99999999999}'", "is no regular expression"),
        ('id = "r"', 'id = "q"', "question id q is used twice"),
        ('id = "r"', 'id = "R"', "question 2, id: 'R'"),
        ('ask = "kept"', 'ask = "keeps"', "question 2, ask: 'keeps' is not one of followed-by, read-once"),
        ('ask = "kept"', 'ask = "kept"\nwhy = "x"', "question 2 has why; allowed are id, ask, constructor"),
        ('then = "C.d"', "", "question 1 lacks then"),
        ('then = "C.d"', 'then = "d"', "question 1, then: 'd' is not Class.member"),
        ('calls = ["A.b"]', "calls = []", "question 1, calls: it lists nothing"),
        ('calls = ["A.b"]', 'calls = ["A.b()"]', r"question 1, calls: 'A.b\(\)' is not Class.member"),
        ('"A(int, String[])"', '"A"', "question 2, constructor: 'A' is not Class"),
        (
            "[[question]]",
            "[[questions]]",
            "the file has questions; allowed are jar, claim, flag, flag_default, question",
        ),
    ],
)
def test_what_is_wrong_with_a_question_or_a_proof_is_named(old, new, complaint):
    assert old in SOURCE_ONLY
    with pytest.raises(HarnessError, match=rf"^here: .*{complaint}"):
        parse_claims(SOURCE_ONLY.replace(old, new, 1).encode(), "here")


EVIDENCE = "scenario = \"turn2\"\nevidence = 'Updated'\n"


@pytest.mark.parametrize(
    ("line", "level"), [("", "info"), ('level = "warn"\n', "warn"), ('level = "error"\n', "error")]
)
def test_a_claim_says_at_which_level_its_line_is_expected(line, level):
    claims = parse_claims(GOOD.replace('scenario = "turn2"\n', EVIDENCE + line).encode(), "here")
    assert (claims.chains[0].evidence, claims.chains[0].level) == ("Updated", level)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (EVIDENCE + 'level = "loud"\n', "level: 'loud' is not one of trace, debug, info, warn, error"),
        ('scenario = "turn2"\nlevel = "warn"\n', "level goes with evidence"),
    ],
)
def test_a_level_that_is_none_or_that_no_line_has_is_refused(lines, why):
    with pytest.raises(HarnessError, match=why):
        parse_claims(GOOD.replace('scenario = "turn2"\n', lines).encode(), "here")


def test_a_claim_may_state_the_most_that_figures_of_its_scenario_may_be():
    limited = GOOD.replace(
        'id = "one"', 'id = "one"\nlimits = { observer_recovers_seconds = 3, node_cpu_seconds = 20.5 }'
    )
    (claim,) = parse_claims(limited.encode(), "here").claims
    assert claim.limits == {"observer_recovers_seconds": 3.0, "node_cpu_seconds": 20.5}


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ("3", "claim 1, limits: write limits = "),
        ('{ "Recovers!" = 3 }', "claim 1, limits: write limits = "),
        ('{ recovers_seconds = "3" }', "claim 1, limits.recovers_seconds: '3' is no number that can be the most"),
        ("{ recovers_seconds = true }", "True is no number"),
        ("{ recovers_seconds = -1 }", "-1 is no number"),
        ("{ recovers_seconds = inf }", "inf is no number"),
        ("{ recovers_seconds = nan }", "nan is no number"),
    ],
)
def test_a_limit_is_a_figure_with_the_most_that_it_may_be(limits, complaint):
    limited = GOOD.replace('id = "one"', f'id = "one"\nlimits = {limits}')
    with pytest.raises(HarnessError, match=f"^here: .*{complaint}"):
        parse_claims(limited.encode(), "here")


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf" + GOOD.encode(), GOOD.replace("\n", "\r\n").encode()])
def test_a_file_saved_by_another_systems_editor_is_the_same(content):
    assert parse_claims(content, "here") == parse_claims(GOOD.encode(), "here")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (GOOD.encode("utf-16"), r"no text in UTF-8 \(byte 1\): save it as UTF-8"),
        (b"a=" + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
        (b'jar = "kafka-raft"\nclaim = []', "there is none; write each as a"),
        (GOOD.replace('flag = "some.key"\n', "").encode(), "flag_default: it goes with `flag`"),
        (GOOD.replace('on = "PASSED"', "on = true").encode(), r"here: claim 1, expect, on: it is a text"),
    ],
)
def test_what_no_claims_can_be_read_from_is_refused_with_the_reason(content, problem):
    with pytest.raises(HarnessError, match=problem):
        parse_claims(content, "here")
