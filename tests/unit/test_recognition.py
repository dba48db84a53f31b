"""Which jars are taken to be of a series: those that declare everything it adds, whoever compiled them."""

import pytest
from test_proof_dropin import CONFIG, PRIVATE, STATE, SYNTHETIC, classes, facts, method

from harness.proof.bytecode import FieldFacts
from harness.proof.recognition import added_by_series, lacking

KEY = FieldFacts("KEY_CONFIG", "Ljava/lang/String;", 1, "")
RELEASED = classes(facts(STATE, method()), facts(CONFIG, method()))
SERIES = classes(
    facts(STATE, method(code="changed"), method("update", "(Ljava/util/List;)V", PRIVATE)),
    facts(CONFIG, method(), fields=[KEY]),
    facts(f"{STATE}$Known", method("<init>", "()V")),
)
ADDED = added_by_series(RELEASED, SERIES)


def lacks(*every):
    return [str(each) for each in lacking(ADDED, classes(*every))]


def test_the_series_own_build_lacks_nothing_and_neither_does_one_with_more():
    assert lacks(*SERIES.values()) == []
    more = facts(CONFIG, method(), method("another"), fields=[KEY])
    assert lacks(*{**SERIES, CONFIG: more}.values()) == []


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        (facts(CONFIG, method()), ["QuorumConfig.KEY_CONFIG"]),
        (facts(STATE, method()), ["FollowerState.update()"]),
        (facts(STATE, method(), method("update", "(Ljava/util/Set;)V")), ["FollowerState.update()"]),
    ],
)
def test_a_member_that_is_missing_or_of_another_type_is_named(changed, missing):
    assert lacks(*{**SERIES, changed.name: changed}.values()) == missing


def test_the_release_lacks_all_of_it():
    assert lacks(*RELEASED.values()) == [
        "FollowerState.update()",
        "FollowerState.Known",
        "a constructor of FollowerState.Known",
        "QuorumConfig.KEY_CONFIG",
    ]


def test_what_compilers_make_on_their_own_is_none_of_the_series():
    by_compiler = classes(
        *RELEASED.values(),
        facts(f"{STATE}$1", method("hidden")),
        facts(f"{STATE}$Made", method("hidden"), access=SYNTHETIC),
        facts("a/B", method("lambda$poll$0", access=SYNTHETIC), method("<clinit>", "()V")),
    )
    assert {str(each) for each in added_by_series(RELEASED, by_compiler)} == {"B"}
