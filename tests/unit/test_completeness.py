"""Whether an unpacked Kafka is whole: what a broker needs, of one version, for one Scala."""

import re
from types import SimpleNamespace

import pytest
from whole_kafka import whole_kafka

from harness.base.errors import HarnessError
from harness.building.jars import write_jar
from harness.kafka.completeness import (
    check_whole,
    first_problem,
    in_two_versions,
    known_modules,
    lacking_others,
)
from harness.kafka.distribution import VERSION_ENTRY, unpacked_distribution
from harness.model.sides import Side, Sides
from harness.stages.inputs import what_lacks


@pytest.fixture
def libs(tmp_path):
    return whole_kafka(tmp_path) / "libs"


def check(libs):
    check_whole(unpacked_distribution(libs.parent), libs.parent)


def version_of(number):
    return {VERSION_ENTRY: f"version={number}\n".encode()}


def test_a_release_a_vendors_build_and_other_peoples_jars_beside_it_are_whole(libs, tmp_path):
    check(libs)
    write_jar(version_of("2.8.0"), libs / "kafka-oauth-client-0.15.0.jar")  # somebody's plugin, with a client inside
    write_jar({"x": b""}, libs / "connect-json-schema-converter-2.0.0.jar")
    check(libs)
    check(whole_kafka(tmp_path / "vendor", "3.9.1.redhat-00003") / "libs")
    check(whole_kafka(tmp_path / "another", "3.9.1-acme-2") / "libs")
    check(whole_kafka(tmp_path / "older", scala="2.12") / "libs")


def test_what_a_broker_needs_is_known_from_the_lock_of_its_release_or_of_its_line():
    assert {"kafka", "kafka-raft", "kafka-clients", "kafka-metadata"} <= known_modules("3.9.1").needed
    assert known_modules("3.9.99").needed == known_modules("3.9.1-acme").needed
    assert known_modules("17.0.0").needed == frozenset()


@pytest.mark.parametrize("module", sorted(known_modules("3.9.1").needed - {"kafka-raft"}))
def test_a_module_that_is_not_there_is_named(libs, module):
    next(libs.glob(f"{'kafka_*' if module == 'kafka' else module}-3.9.1.jar")).unlink()
    with pytest.raises(HarnessError, match=rf"is not a whole Kafka: its libs/ lacks {module}[_-]<"):
        check(libs)


def test_two_versions_of_a_module_leave_it_open_which_runs(libs):
    write_jar(version_of("3.9.2"), libs / "kafka-clients-3.9.2.jar")
    with pytest.raises(HarnessError, match=r"it has kafka-clients-3\.9\.1\.jar and kafka-clients-3\.9\.2\.jar"):
        check(libs)


def test_a_module_of_another_release_is_named_by_what_stands_in_it(libs):
    write_jar(version_of("3.9.2"), libs / "kafka-clients-3.9.1.jar")
    with pytest.raises(
        HarnessError, match=r"kafka-clients-3\.9\.1\.jar is of Kafka 3\.9\.2 by what stands in it, .*module of 3\.9\.1"
    ):
        check(libs)
    manifest = b"Manifest-Version: 1.0\r\nVersion: 3.8.0\r\n\r\n"
    write_jar({"META-INF/MANIFEST.MF": manifest}, libs / "kafka-clients-3.9.1.jar")
    with pytest.raises(HarnessError, match=r"kafka-clients-3\.9\.1\.jar is of Kafka 3\.8\.0 by what stands in it"):
        check(libs)
    (libs / "kafka-clients-3.9.1.jar").unlink()
    write_jar({"x": b""}, libs / "kafka-clients-3.8.0.jar")
    with pytest.raises(HarnessError, match=r"kafka-clients-3\.8\.0\.jar is of Kafka 3\.8\.0, and"):
        check(libs)


@pytest.mark.parametrize("module", ["kafka-tools", "kafka-streams", "connect-api", "connect-runtime", "connect-mirror"])
def test_modules_that_no_broker_needs_are_of_its_release_where_they_are_there(libs, module):
    write_jar({"x": b""}, libs / f"{module}-3.9.1.jar")
    check(libs)
    write_jar({"x": b""}, libs / f"{module}-3.9.0.jar")
    with pytest.raises(HarnessError, match=rf"it has {module}-3\.9\.0\.jar and {module}-3\.9\.1\.jar, of which"):
        check(libs)
    (libs / f"{module}-3.9.1.jar").unlink()
    with pytest.raises(
        HarnessError, match=rf"{module}-3\.9\.0\.jar is of Kafka 3\.9\.0, and its raft module of 3\.9\.1"
    ):
        check(libs)


@pytest.mark.parametrize(
    ("gone", "added", "problem"),
    [
        ((), ("kafka_2.12-3.9.1.jar",), "kafka_2.12-3.9.1.jar and kafka_2.13-3.9.1.jar, for different Scalas"),
        (("scala-library-2.13.15.jar",), (), "its libs/ lacks scala-library"),
        (
            ("scala-library-2.13.15.jar",),
            ("scala-library-2.12.19.jar",),
            "kafka_2.13-3.9.1.jar is for Scala 2.13, and scala-library-2.12.19.jar is for another",
        ),
        (
            (),
            ("scala-logging_2.13-3.9.5.jar", "scala-logging_2.12-3.9.5.jar"),
            "kafka_2.13-3.9.1.jar is for Scala 2.13, and scala-logging_2.12-3.9.5.jar is for another",
        ),
        ((), ("scala-logging_2.13-3.9.5.jar", "plugin_2.12-1.0.jar"), ""),
        ((), ("scala-library-2.12.19.jar",), "it has scala-library-2.12.19.jar and scala-library-2.13.15.jar"),
    ],
)
def test_the_scala_of_the_broker_is_the_one_that_is_there(libs, gone, added, problem):
    for name in gone:
        (libs / name).unlink()
    for name in added:
        write_jar({"x": b""}, libs / name)
    jars = {jar.name: jar for jar in libs.iterdir()}
    found = first_problem(jars, "3.9.1", known_modules("3.9.1"))
    assert problem in found if problem else not found


def test_what_other_people_made_and_apaches_release_has_is_only_named(libs):
    for name in ("slf4j-api-2.0.jar", "jackson-core-2.19.redhat-1.jar"):
        write_jar({"x": b""}, libs / name)
    missing = lacking_others(unpacked_distribution(libs.parent))
    assert {"metrics-core", "zstd-jni"} <= {*missing}
    assert not {"slf4j-api", "jackson-core", "kafka-clients", "scala-library", "scala-logging_2.13"} & {*missing}
    check(libs)


def test_of_a_release_that_is_not_locked_nobody_knows_what_it_lacks(tmp_path):
    assert lacking_others(unpacked_distribution(whole_kafka(tmp_path, "3.9.77"))) == ()


def test_other_peoples_jars_in_two_versions_are_only_named_and_those_for_several_systems_are_none(libs):
    for name in ("netty-epoll-4.1.1.Final.jar", "netty-epoll-4.1.1.Final-linux-x86_64.jar", "log4j-1.2-api-2.25.3.jar"):
        write_jar({"x": b""}, libs / name)
    write_jar({"com/yammer/Meter.class": b""}, libs / "metrics-core-2.2.0.jar")
    write_jar({"io/dropwizard/Meter.class": b""}, libs / "metrics-core-4.1.12.1.jar")  # another maker's module
    assert in_two_versions(unpacked_distribution(libs.parent)) == ()
    for name in ("jetty-9.4.jar", "jetty-9.10.jar"):
        write_jar({"org/jetty/Server.class": b""}, libs / name)
    assert in_two_versions(unpacked_distribution(libs.parent)) == (("jetty-9.10.jar", "jetty-9.4.jar"),)
    check(libs)
    side = Side(libs.parent, "3.9.1")
    told = what_lacks(Sides(side, side), SimpleNamespace(cache=libs / "none"))
    assert told[1:] == (f"{libs.parent} has jetty-9.10.jar and jetty-9.4.jar, of which nodes run only the first",)


@pytest.mark.parametrize("added", ["-acme-2", "-acme-2.1", "-hotfix-1.0", "-ccs-7.9.1", ".redhat-00003"])
def test_whatever_a_vendor_adds_to_the_version_a_module_is_known_and_there_once(tmp_path, added):
    place = whole_kafka(tmp_path / "kafka", f"3.9.1{added}")
    kafka = unpacked_distribution(place)
    check_whole(kafka, place)
    write_jar({"x": b""}, place / "libs" / "kafka-metadata-3.9.1.jar")
    names = sorted(("kafka-metadata-3.9.1.jar", f"kafka-metadata-3.9.1{added}.jar"))
    with pytest.raises(HarnessError, match=re.escape(f"it has {names[0]} and {names[1]}")):
        check_whole(unpacked_distribution(place), place)
