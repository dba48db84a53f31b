"""Metrics of two Kafkas as live nodes list them: which are gone, and which are something else."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from upgrade_sample import METER, metric

from harness.model.operator_changes import Weight
from harness.upgrade.metric_changes import metric_changes
from harness.upgrade.metric_lines import general_name, merged, parse_metrics

YAMMER = "com.yammer.metrics.reporting.JmxReporter$"
LISTING = f"""\
kafka.server:type=ReplicaManager,name=IsrShrinksPerSec\t{YAMMER}Meter\tCount\tLong
kafka.server:type=ReplicaManager,name=IsrShrinksPerSec\t{YAMMER}Meter\tRateUnit\tunit:SECONDS
kafka.server:type=socket-server-metrics,networkProcessor=1\torg.apache.kafka.common.metrics.JmxReporter$KafkaMbean\trequest-rate\tDouble
kafka.server:type=socket-server-metrics,networkProcessor=2\torg.apache.kafka.common.metrics.JmxReporter$KafkaMbean\trequest-rate\tDouble
half a line\t
"""


def test_a_listing_becomes_metrics_by_names_without_numbers():
    found = parse_metrics(LISTING)
    meter = found["kafka.server:type=ReplicaManager,name=IsrShrinksPerSec"]
    assert (meter.kind, meter.attributes) == ("meter", {"Count": "Long", "RateUnit": "unit:SECONDS"})
    other = found["kafka.server:type=socket-server-metrics,networkProcessor=N"]
    assert (other.kind, other.attributes) == ("Kafka metrics", {"request-rate": "Double"})
    assert len(found) == 2


def test_what_differs_from_run_to_run_is_no_part_of_a_name():
    assert (
        general_name("kafka.server:type=Fetch,client-id=raft-client-0")
        == "kafka.server:type=Fetch,client-id=raft-client-N"
    )
    assert general_name("kafka.x:type=A,id=4L6g3nShT-eMCtK--X86sw") == "kafka.x:type=A,id=ID"
    path = "kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory="
    assert general_name(f'{path}"/data/kafka"') == f"{path}PATH"
    chance = "kafka.network:type=RequestMetrics,name=ErrorsPerSec,request=JoinGroup,error="
    assert general_name(f"{chance}NONE") == general_name(f"{chance}MEMBER_ID_REQUIRED")


def test_a_digit_in_a_metrics_own_name_and_the_longest_word_stay():
    assert general_name("kafka.a:type=T2,name=Top10") == "kafka.a:type=T2,name=Top10"
    assert general_name("kafka.a:type=R,request=DescribeUserScramCredentials").endswith("DescribeUserScramCredentials")


def test_a_metric_that_not_every_boot_had_is_neither_gone_nor_new():
    always, sometimes = metric("kafka.a:type=X,name=A"), metric("kafka.a:type=X,name=B")
    boots = merged([(always, sometimes), (always,)])
    assert [(each.name, each.steady) for each in boots] == [(always.name, True), (sometimes.name, False)]
    assert metric_changes(boots, (always,)) == ()
    assert metric_changes((always,), boots) == ()


def test_an_attribute_that_not_every_boot_had_is_neither_gone_nor_new_and_its_metric_is_gone_all_the_same():
    bare = metric("a:type=b")
    whole = replace(bare, attributes={**bare.attributes, "Late": "Double"})
    one, other = merged([(whole,), (bare,)]), merged([(bare,), (whole,)])
    assert metric_changes(one, other) == metric_changes(one, merged([(bare,), (bare,)])) == ()
    (gone,) = metric_changes(one, ())
    assert (gone.weight, gone.subject) == (Weight.BREAKS, "a:type=b")


def test_a_metric_that_is_gone_breaks_its_alerts_in_silence_and_names_what_it_may_be_now():
    old, new = metric("kafka.server:type=A,name=IsrShrinks"), metric("kafka.replica:type=B,name=IsrShrinks")
    gone, added = metric_changes((old,), (new,))
    assert (gone.weight, gone.subject, added.weight) == (Weight.BREAKS, old.name, Weight.ADDS)
    assert f"It may be {new.name} now." in gone.means


def test_metrics_that_differ_in_their_names_alone_are_told_together():
    names = ("LocalTimeMs", "RemoteTimeMs", "TotalTimeMs", "RequestBytes")
    gone = [metric(f"kafka.network:type=RequestMetrics,name={name},request=StopReplica", "histogram") for name in names]
    (change,) = metric_changes(gone, ())
    assert change.subject == "kafka.network:type=RequestMetrics,name=*,request=StopReplica"
    assert change.base == "histogram: LocalTimeMs, RemoteTimeMs, RequestBytes, TotalTimeMs"


def test_another_type_of_metric_breaks_where_attributes_go_with_it():
    name = "kafka.server:type=A,name=X"
    (change,) = metric_changes((metric(name, "meter", METER),), (metric(name, "gauge", {"Value": "Long"}),))
    assert (change.weight, change.base, change.candidate) == (Weight.BREAKS, "meter", "gauge")
    assert "Without Count, MeanRate, RateUnit." in change.means


def test_another_unit_breaks_every_threshold():
    name = "kafka.server:type=A,name=X"
    (change,) = metric_changes(
        (metric(name, "meter", METER),), (metric(name, "meter", {**METER, "RateUnit": "unit:MINUTES"}),)
    )
    assert (change.weight, change.base, change.candidate) == (Weight.BREAKS, "SECONDS", "MINUTES")


def test_a_number_of_another_size_is_the_same_to_an_alert_and_a_word_is_not():
    def changed(*types):
        return metric_changes(*([metric("kafka.a:type=A,name=X", attributes={"Value": each})] for each in types))

    assert changed("Integer", "Long") == changed("", "Long") == changed("Long", "") == ()
    assert [each.weight for each in changed("Integer", "String")] == [Weight.BREAKS]


metrics = st.lists(
    st.builds(
        metric,
        st.sampled_from([f"kafka.{domain}:type=T,name={name}" for domain in "ab" for name in "XYZUVW"]),
        st.sampled_from(["gauge", "meter"]),
        st.dictionaries(st.sampled_from("pqr"), st.sampled_from(["Long", "String", "unit:s", ""]), min_size=1),
    ),
    unique_by=lambda each: each.name,
)


@given(metrics)
def test_nothing_changes_between_a_kafka_and_itself(listed):
    assert metric_changes(listed, listed) == ()


@given(metrics, metrics)
def test_what_is_gone_one_way_is_new_the_other_way(one, other):
    there, back = metric_changes(one, other), metric_changes(other, one)
    whole = {each.subject for each in there if each.rank == 10}
    assert whole == {each.subject for each in back if each.means == "New."}
