"""Requests, features, Java and libraries of two Kafkas: which clients, clusters and hosts no longer fit."""

from dataclasses import replace

import pytest
from upgrade_sample import BASE, LEVELS

from harness.model.kafka_inventory import Api, Feature
from harness.model.operator_changes import Area, Weight
from harness.upgrade.protocol_changes import library_changes, protocol_changes, runtime_changes


def of_apis(old, new):
    return protocol_changes(replace(BASE, apis=old, features=()), replace(BASE, apis=new, features=()))


def of_features(old, new):
    return protocol_changes(replace(BASE, apis=(), features=old), replace(BASE, apis=(), features=new))


def of_runtime(**other):
    return runtime_changes(BASE, replace(BASE, **other))


@pytest.mark.parametrize(
    ("new", "weight", "says"),
    [
        ((4, 17), Weight.BREAKS, "no version from 4 on are refused"),
        ((0, 15), Weight.CHANGES, "after 15 are not served"),
        ((0, 18), Weight.ADDS, "More versions"),
    ],
)
def test_versions_of_a_request_are_weighed_by_the_clients_that_lose_them(new, weight, says):
    (change,) = of_apis((Api("broker", 1, "Fetch", 0, 17),), (Api("broker", 1, "Fetch", *new),))
    assert (change.weight, change.subject, change.where) == (weight, "Fetch", "broker listener")
    assert says in change.means


def test_a_request_that_is_gone_breaks_on_the_listener_that_had_it():
    both = tuple(Api(listener, 56, "AlterPartition", 0, 3) for listener in ("broker", "controller"))
    (change,) = of_apis(both, both[:1])
    assert (change.weight, change.where, change.base) == (Weight.BREAKS, "controller listener", "0 to 3")


def test_what_changes_on_both_listeners_is_said_once():
    old, new = ([Api(listener, 1, "Fetch", lowest, 17) for listener in ("controller", "broker")] for lowest in (0, 4))
    (change,) = of_apis(old, new)
    assert change.where == "broker listener and controller listener"


def test_a_request_of_another_name_is_the_same_request():
    assert of_apis((Api("broker", 74, "ListClientMetrics", 0, 0),), (Api("broker", 74, "ListConfig", 0, 0),)) == ()


def test_a_cluster_below_the_lowest_level_does_not_start_and_the_level_is_named():
    old, new = Feature("metadata.version", 1, 21, 21, LEVELS), Feature("metadata.version", 7, 21, 21, {7: "3.3-IV3"})
    (change,) = of_features((old,), (new,))
    assert change.weight is Weight.BREAKS
    assert "below 3.3-IV3 (7) does not start" in change.means


def test_a_higher_level_is_no_harm_until_it_is_raised_and_then_there_is_no_way_back():
    old, new = Feature("metadata.version", 1, 21, 21, LEVELS), Feature("metadata.version", 1, 29, 29, LEVELS)
    raised, at_first = sorted(of_features((old,), (new,)), key=lambda change: change.weight)
    assert (raised.weight, at_first.weight) == (Weight.ADDS, Weight.CHANGES)
    assert "above 3.9-IV0 (21), base does not start: it has to be lowered first" in raised.means
    assert (at_first.base, at_first.candidate) == ("3.9-IV0 (21)", "4.2-IV1 (29)")


def test_a_feature_that_is_gone_or_lower_breaks_clusters_that_have_it_raised():
    old = Feature("group.version", 0, 2, 0)
    assert [each.weight for each in of_features((old,), ())] == [Weight.BREAKS]
    assert [each.weight for each in of_features((old,), (Feature("group.version", 0, 1, 0),))] == [Weight.BREAKS]


def test_a_newer_java_breaks_before_anything_else_and_an_older_one_does_not():
    (change,) = of_runtime(java={"a node": 17, "clients": 8})
    assert (change.area, change.weight, change.base, change.candidate) == (
        Area.RUNTIME,
        Weight.BREAKS,
        "Java 8",
        "Java 17",
    )
    assert [each.weight for each in of_runtime(java={"a node": 7, "clients": 8})] == [Weight.ADDS]


def test_another_logging_library_breaks_the_logging_configuration():
    assert [each.weight for each in of_runtime(logging="log4j 2")] == [Weight.BREAKS]
    assert [each.weight for each in of_runtime(logging="log4j 1")] == [Weight.CHANGES]
    (lost,) = of_runtime(logging="")
    assert (lost.weight, lost.candidate) == (Weight.BREAKS, "no known library")
    assert "may log nothing" in lost.means


def test_libraries_are_compared_by_version():
    changes = library_changes({"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"})
    assert [(each.subject, each.weight) for each in changes] == [
        ("b", Weight.CHANGES),
        ("c", Weight.CHANGES),
        ("d", Weight.ADDS),
    ]
