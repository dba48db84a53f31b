"""What the page says of whole Kafkas: which each arm ran, and which of its jars base does not have."""

from dataclasses import replace

import pytest
import sample_run

from harness.judge.decision import decide
from harness.model.arms import RELEASE, Arm, Build, Flag, Kafka, Role
from harness.model.candidate_kind import CandidateKind
from harness.model.events import NodeProved
from harness.model.runs import Outcome, Verdict
from harness.report.context import report_context
from harness.report.html import render_html
from harness.report.kafkas import kafka_views
from harness.report.markdown import render_markdown
from harness.rundir.journal import Entry

OLD = Kafka(
    "3.9.1", "", "kafka-raft-3.9.1.jar", {"kafka-clients-3.9.1.jar": "a" * 64, "kafka-raft-3.9.1.jar": "b" * 64}
)
NEW = Kafka(
    "3.9.2-acme",
    "/opt/acme.tgz",
    "kafka-raft-3.9.2-acme.jar",
    {"kafka-clients-3.9.2-acme.jar": "c" * 64, "kafka-raft-3.9.2-acme.jar": "d" * 64},
)


def arm(name, role, kafka):
    build = Build(
        name, kafka.version[:5], kafka.raft_jar, kafka.jars[kafka.raft_jar], RELEASE, Flag("", False), kafka=kafka
    )
    return Arm(name, role, build, "absent")


ARMS = (arm("stock", Role.BASE, OLD), arm("kafka", Role.ON, NEW))
NAMES = {"stock": "stock", "patched-on": "kafka"}
PROVED = NodeProved(1, 42, "kafka-raft.jar", "d" * 64, "absent", "21", jars=2)


def of_arms(found):
    """Return the sample's results as if they were of two whole Kafkas."""
    return [(replace(result, arm=NAMES[result.arm]), entries) for result, entries in found if result.arm in NAMES]


@pytest.fixture
def ran():
    return [
        (replace(result, outcome=Outcome.PASSED, expectation="", reason=""), e)
        for result, e in of_arms(sample_run.results("ship"))
    ]


@pytest.fixture
def declared():
    return replace(sample_run.declaration(), arms=ARMS, claims=(), kind=CandidateKind.UNKNOWN)


def judged(declared, ran):
    proof = replace(
        sample_run.proof("ship"), build="kafka", kafka="3.9.2-acme", changed_methods=(), chains=(), audit=()
    )
    return decide(declared, [result for result, _ in ran], proof)


def shown(declared, ran, *proofs):
    record = judged(declared, ran)
    journals = {result.key.folder: entries for result, entries in ran}
    folder = next(run.key.folder for run in record.runs if run.arm == "kafka")
    journals[folder] = [Entry(0, 0.0, "", proof) for proof in proofs]
    return record, journals


def test_two_whole_kafkas_are_named_in_the_verdict_and_on_the_page(declared, ran):
    record, journals = shown(declared, ran)
    assert record.verdict is Verdict.SHIP
    assert ", with Kafka 3.9.2-acme (acme.tgz) in place of Kafka 3.9.1; no fix was shown" in record.sentence
    context = report_context(record, journals)
    assert (context.product, context.kafka_version) == ("Build verification", "3.9.1 → 3.9.2-acme")
    assert (
        context.question == "Is anything worse on Kafka 3.9.2-acme (acme.tgz) than on Kafka 3.9.1? Nothing is claimed."
    )
    page = render_html(record, journals)
    assert "What differs from Kafka 3.9.2-acme's own raft jar" in page
    assert "| kafka | on | 3\\.9\\.2-acme |".replace("\\.", ".") in render_markdown(context)


def test_each_arm_says_what_its_live_nodes_held_open_and_what_of_it_base_does_not_have(declared, ran):
    apart = ("kafka-clients-3.9.2-acme.jar cccccccccccc", "kafka-raft-3.9.2-acme.jar dddddddddddd")
    record, journals = shown(declared, ran, replace(PROVED, differing=apart), replace(PROVED, differing=apart))
    base, candidate = kafka_views(record, journals)
    assert (base.kafka, base.seen) == ("Kafka 3.9.1, Apache's release", "No node was seen with its jars.")
    assert candidate.kafka == "Kafka 3.9.2-acme, /opt/acme.tgz"
    assert candidate.seen == (
        "In each of 2 looks at started nodes, it held 2 jars open; by their digests, 2 are not base's, all others are."
    )
    assert candidate.differing == apart
    assert "kafka-clients-3.9.2-acme.jar cccccccccccc" in render_html(record, journals)


def test_a_node_with_bases_jars_alone_says_so(declared, ran):
    record, journals = shown(declared, ran, PROVED)
    assert kafka_views(record, journals)[1].seen == (
        "In the only look at a started node, it held 2 jars open; by their digests, all are base's."
    )


def test_one_scenario_is_too_little_to_say_that_a_whole_kafka_is_no_worse(declared, ran):
    one = replace(declared, scenarios=declared.scenarios[:1])
    record = judged(one, ran)
    assert record.verdict is Verdict.INCONCLUSIVE
    assert "is not enough to judge Kafka 3.9.2-acme (acme.tgz) against Kafka 3.9.1" in record.sentence


def test_a_jar_in_bases_own_kafka_is_a_patch_as_before(declared, ran):
    one_kafka = tuple(replace(each, build=replace(each.build, kafka=OLD)) for each in ARMS)
    record, journals = shown(replace(declared, arms=one_kafka), ran)
    assert report_context(record, journals).product == "Patch verification"
    assert "in place of" not in record.sentence


def test_what_claims_say_of_a_whole_kafka_is_said_of_that_kafka(declared):
    claims = [
        replace(each, expected={role: what for role, what in each.expected.items() if role is not Role.OFF})
        for each in sample_run.declaration().claims
    ]
    claimed = replace(declared, claims=tuple(claims), kind=CandidateKind.CLAIMED)
    record = judged(claimed, of_arms(sample_run.results("ship")))
    assert "fail on stock and pass on Kafka 3.9.2-acme (acme.tgz), as claimed" in record.sentence
