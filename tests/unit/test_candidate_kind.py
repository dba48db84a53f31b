"""What kind of jar it is: decided from the request, and for a given jar from what it declares."""

import io
import json
import zipfile
from dataclasses import replace

import pytest
from rich.console import Console
from whole_kafka import whole_kafka

from harness.base.json import from_json, to_json
from harness.base.paths import data_root
from harness.base.progress import Reporter
from harness.kafka.class_path import RAFT_CLIENT
from harness.model.arms import Arm, Build, ClaimedFlag, Flag, Role, plan_arms, settings_of
from harness.model.candidate_kind import CandidateKind
from harness.model.declaration import SCHEMA, Declaration
from harness.model.request import Request
from harness.stages import candidate_kind
from harness.stages.candidate_kind import recognised
from harness.stages.inputs import read_inputs
from harness.toolbox.toolbox import local_toolbox

SHIPPED = data_root() / "patches/3.9.1/dynamic-bootstrap"
KEY = "controller.quorum.dynamic.bootstrap.servers.enable"


@pytest.fixture
def jar(tmp_path):
    """Return what looks like a raft jar of 3.9.1."""
    with zipfile.ZipFile(tmp_path / "kafka-raft-3.9.1.jar", "w") as archive:
        archive.writestr(RAFT_CLIENT, b"")
    return tmp_path / "kafka-raft-3.9.1.jar"


@pytest.fixture
def own_claims(tmp_path):
    file = tmp_path / "claims.toml"
    file.write_text("""
jar = "kafka-raft"
[[claim]]
id = "recovers"
says = "An observer finds the leader."
source = "KafkaRaftClient: poll"
scenario = "turn2"
expect = { base = "FAILED(observer_recovers)", on = "PASSED" }
""")
    return str(file)


@pytest.fixture
def lack(monkeypatch):
    """Return what the next jar lacks of a series, to be changed; empty: it lacks nothing."""
    missing = ["the key x"]
    monkeypatch.setattr(candidate_kind, "_lack", lambda *_: missing[0])
    return missing


def identify(request):
    """Return the inputs of a request once its jar was held against series, and what was reported."""
    stream = io.StringIO()
    found = recognised(
        request, read_inputs(request, local_toolbox()), local_toolbox(), Reporter(Console(file=stream, width=500))
    )
    return found, stream.getvalue().strip()


def test_what_is_built_here_is_of_its_series_whatever_its_claims(own_claims):
    for claims in ("", "none", own_claims):
        assert identify(Request(claims=claims))[0].kind is CandidateKind.SERIES


def suite_of(request):
    names = {scenario.name for scenario in identify(request)[0].scenarios}
    return "standard" if "leader-loss" in names else "bootstrap"


def test_a_series_is_asked_what_it_claims_and_any_other_jar_whatever_it_claims_whether_anything_is_worse(
    jar, own_claims, lack
):
    assert suite_of(Request()) == "bootstrap"
    assert suite_of(Request(jar=jar)) == "standard"
    assert suite_of(Request(jar=jar, suite="bootstrap")) == "bootstrap"
    assert suite_of(Request(jar=jar, claims=own_claims)) == "standard"
    assert suite_of(Request(claims="none")) == "standard"
    lack[0] = ""
    assert suite_of(Request(jar=jar)) == "bootstrap"
    assert suite_of(Request(jar=jar, suite="standard")) == "standard"


@pytest.mark.usefixtures("lack")
def test_a_jar_without_claims_that_is_of_no_series_is_unknown_and_claims_nothing(jar):
    found, line = identify(Request(jar=jar))
    assert (found.kind, found.claims.claims, found.claims.flag) == (CandidateKind.UNKNOWN, (), "")
    assert (found.setup.claims, found.setup.series, found.setup.flag_key) == ("", "", "")
    assert line.endswith(
        "the jar is not of the series dynamic-bootstrap (it lacks the key x) nor of the series dynamic-bootstrap-v2 "
        "(it lacks the key x): the question is whether anything is worse"
    )


def test_a_jar_that_lacks_nothing_of_a_series_is_of_it_and_brings_its_claims(jar, lack):
    lack[0] = ""
    found, line = identify(Request(jar=jar))
    assert (found.kind, found.claims.flag, found.setup.flag_key) == (CandidateKind.SERIES, KEY, KEY)
    assert (found.setup.claims, found.setup.series) == (str(SHIPPED / "claims.toml"), str(SHIPPED))
    assert "the jar is of the series dynamic-bootstrap" in line


def test_a_jar_judged_without_claims_is_held_against_no_series(jar, lack):
    lack[0] = ""
    found, line = identify(Request(jar=jar, claims="none"))
    assert (found.kind, found.setup.claims) == (CandidateKind.UNKNOWN, "")
    assert "the question is whether anything is worse" in line


def test_a_jar_with_a_claims_file_of_the_users_is_claimed(jar, own_claims, lack):
    lack[0] = ""
    found, line = identify(Request(jar=jar, claims=own_claims))
    assert (found.kind, [claim.id for claim in found.claims.claims]) == (CandidateKind.CLAIMED, ["recovers"])
    assert "the jar is judged by its claims" in line


def test_a_series_claims_make_a_jar_one_of_the_series_only_where_it_declares_all_of_it(jar, lack):
    request = Request(jar=jar, claims=str(SHIPPED / "claims.toml"))
    other, line = identify(request)
    assert (other.kind, other.claims.flag) == (CandidateKind.CLAIMED, KEY)
    assert "(it lacks the key x): it is judged by its claims and by its behaviour" in line
    lack[0] = ""
    assert identify(request)[0].kind is CandidateKind.SERIES


@pytest.mark.parametrize(
    ("claims", "kind", "asked"),
    [
        (
            "",
            CandidateKind.UNKNOWN,
            "the jar was not compared with any series: the question is whether anything is worse",
        ),
        (str(SHIPPED / "claims.toml"), CandidateKind.CLAIMED, "the jar is judged by its claims"),
    ],
)
def test_a_jar_in_a_kafka_that_is_not_locked_is_held_against_no_series_and_how_to_is_said(
    tmp_path, jar, claims, kind, asked
):
    kafka = whole_kafka(tmp_path / "kafka", "3.9.77-acme")
    found, line = identify(Request(jar=jar, base_dist=kafka, claims=claims))
    assert found.kind is kind
    assert "the lock of Kafka 3.9.77 is needed to see whether the jar is of a series: `harness lock 3.9.77`" in line
    assert line.endswith(asked)


@pytest.mark.usefixtures("lack")
def test_a_jar_of_a_version_without_a_series_is_unknown_and_no_mistake(tmp_path, jar):
    other = jar.rename(tmp_path / "kafka-raft-4.1.2.jar")
    found, line = identify(Request(jar=other, kafka_version="4.1.2"))
    assert found.kind is CandidateKind.UNKNOWN
    assert line.endswith("the jar was not compared with any series: the question is whether anything is worse")


def test_the_kind_is_declared_and_a_folder_of_before_is_taken_for_a_series():
    declared = Declaration(SCHEMA, "3.9.1", (), (), 1, kind=CandidateKind.UNKNOWN)
    assert from_json(Declaration, to_json(declared)).kind is CandidateKind.UNKNOWN
    before = {name: value for name, value in json.loads(to_json(declared)).items() if name != "kind"}
    assert from_json(Declaration, json.dumps(before)).kind is CandidateKind.SERIES


@pytest.mark.parametrize("kind", CandidateKind)
def test_only_a_series_binds_a_jar_to_how_its_series_does_it(kind):
    assert Declaration(SCHEMA, "3.9.1", (), (), 1, kind=kind).binding == (kind is CandidateKind.SERIES)


def test_an_unknown_jar_has_the_arms_base_and_jar_and_no_setting_of_a_flag():
    flag = ClaimedFlag("", False)
    stock = Build("stock", "3.9.1", "stock.jar", "0" * 64, "release", Flag("", False))
    given = replace(stock, name="jar", builder="given")
    arms = plan_arms(stock, given, flag, "21")
    assert arms == (Arm("stock", Role.BASE, stock, "absent", "21"), Arm("jar", Role.ON, given, "absent", "21"))
    assert [settings_of(arm, flag) for arm in arms] == [{}, {}]
