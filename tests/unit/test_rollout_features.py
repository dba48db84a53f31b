"""What finalising changes, and whether there is a way back, follows from what both Kafkas' classes say."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.model.features import METADATA_VERSION, Downgrade, KafkaFeatures, MetadataLevel
from harness.rollout.feature_facts import parse_features
from harness.rollout.features import check_levels, feature_plan

# As 3.9.2, 4.0.2, 4.1.2 and 4.3.1 print them; 4.1 says nothing of 4.2 and 4.3.
LEVELS = (
    (21, "3.9-IV0", "false"),
    (22, "4.0-IV0", "false"),
    (23, "4.0-IV1", "true"),
    (24, "4.0-IV2", "false"),
    (25, "4.0-IV3", "false"),
    (26, "4.1-IV0", "false"),
    (27, "4.1-IV1", "false"),
    (28, "4.2-IV0", "false"),
    (29, "4.2-IV1", "false"),
    (30, "4.3-IV0", "true"),
)


def printed(newest, lowest, **others):
    """Return what the probe prints of a Kafka whose newest metadata version is that level."""
    levels = [each for each in LEVELS if each[0] <= newest]
    yield "a line of somebody's static initialiser"
    yield f"release {levels[-1][1]}"
    yield from (f"level {level} {name} {changes}" for level, name, changes in levels)
    yield f"supported metadata.version {lowest} {newest}"
    yield from (f"supported {name} 0 {level}" for name, level in others.items())
    yield f"first metadata.version {newest}"
    yield from (f"first {name} {level}" for name, level in others.items())


def kafka(version, newest, lowest=7, **others):
    found = parse_features(version, printed(newest, lowest, **others))
    assert found is not None
    return found


V39 = kafka("3.9.2", 21, lowest=1)
V40 = kafka("4.0.2", 25, transactions=2)
V41 = kafka("4.1.2", 27, transactions=2, replicas=1)
V43 = kafka("4.3.1", 30, transactions=2, replicas=1, share=1)


def test_what_a_kafka_says_is_read_and_lines_between_are_passed_over():
    assert (V40.release, V40.supported[METADATA_VERSION]) == ("4.0-IV3", (7, 25))
    assert V40.first == {METADATA_VERSION: 25, "transactions": 2}
    assert V40.metadata_levels[2] == MetadataLevel(23, "4.0-IV1", changes_metadata=True)
    assert V40.level(METADATA_VERSION, 25) == "4.0-IV3 (25)"
    assert V40.level("transactions", 2) == "2"


@given(st.lists(st.text(max_size=40) | st.sampled_from(["release x", "level a b c", "supported x 1", "first y -1"])))
def test_whatever_else_is_printed_says_nothing(lines):
    assert parse_features("x", [line for line in lines if not line.startswith("supported")]) is None


def test_metadata_that_changed_on_the_way_leaves_no_way_back_and_says_which_level_and_by_what_source():
    plan = feature_plan(V39, V43)
    assert plan.downgrade is Downgrade.UNSUPPORTED
    before, after = plan.told
    assert "stays at metadata.version 3.9-IV0 (21)" in before
    assert "every node can go back" in before
    assert (
        "4.0-IV1 (23) and 4.3-IV0 (30) changed the metadata (MetadataVersion.didMetadataChange of Kafka 4.3.1)" in after
    )
    assert "there is no way back" in after
    assert "do not start above 3.9-IV0 (21)" in after


def test_without_such_a_change_the_features_can_be_lowered_again_and_it_says_how():
    plan = feature_plan(V40, V41)
    assert plan.downgrade is Downgrade.LOSSLESS
    assert "kafka-features.sh downgrade --release-version 4.0-IV3" in plan.told[1]
    assert [(each.name, each.before, each.after) for each in plan.changes] == [
        (METADATA_VERSION, "4.0-IV3 (25)", "4.1-IV1 (27)"),
        ("replicas", "0", "1"),
    ]


def test_it_is_the_candidates_classes_that_say_what_changed_as_its_controllers_decide():
    rewritten = replace(V41, metadata_levels=(*V41.metadata_levels[:-1], MetadataLevel(27, "4.1-IV1", True)))
    assert feature_plan(V40, rewritten).downgrade is Downgrade.UNSUPPORTED


def test_between_releases_of_the_same_features_there_is_nothing_to_finalise():
    plan = feature_plan(replace(V39, version="3.9.1"), V39)
    assert plan.changes == ()
    assert plan.told == (
        "Kafka 3.9.1 and 3.9.2 stand for the same features (metadata.version 3.9-IV0 (21)): there is nothing to "
        "finalise, and every node can go back at any time.",
    )


@pytest.mark.parametrize(("base", "candidate"), [(V39, V43), (V40, V41), (V39, V39)])
def test_a_cluster_whose_levels_the_candidate_supports_can_be_rolled(base, candidate):
    check_levels(base, candidate)


@pytest.mark.parametrize(
    ("base", "candidate", "says"),
    [
        (V43, V39, "metadata.version at 4.3-IV0 (30), and Kafka 3.9.2 supports 1 to 3.9-IV0 (21)"),
        (V43, V39, "Nor can it be lowered: 4.0-IV1 (23) and 4.3-IV0 (30) changed the metadata"),
        (V41, V40, "Lower it to 4.0-IV3 (25) first: no level between changes the metadata."),
        (replace(V39, first={METADATA_VERSION: 4}), V43, "metadata.version at 4, and Kafka 4.3.1 supports 7 to"),
        (replace(V43, first={"share": 1}), V41, "share at 1, and Kafka 4.1.2 supports no level of it above 0"),
    ],
)
def test_a_downgrade_below_what_the_cluster_was_finalised_at_is_refused_with_the_levels(base, candidate, says):
    with pytest.raises(HarnessError) as caught:
        check_levels(base, candidate)
    assert says in caught.value.message


def test_a_feature_that_a_cluster_does_not_use_is_not_missed():
    check_levels(replace(V43, first={"share": 0}), V41)


@given(st.integers(21, 30), st.integers(21, 30))
def test_a_downgrade_is_lossless_if_and_only_if_no_level_above_bases_changed_the_metadata(one, other):
    low, high = sorted((one, other))
    base, candidate = kafka("a", low), kafka("b", high)
    changed = any(low < level <= high and changes == "true" for level, _, changes in LEVELS)
    assert (feature_plan(base, candidate).downgrade is Downgrade.UNSUPPORTED) is changed


def test_every_record_is_a_value():
    assert isinstance(V39, KafkaFeatures)
    assert kafka("3.9.2", 21, lowest=1) == V39
