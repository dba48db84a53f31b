"""Which classes of other jars are of a type of the jar under test, and the sentence on what one of them lacks."""

from harness.proof.bytecode import ClassFacts, Kin
from harness.proof.dropin.implementing import describe_lacking, heirs

LOG = "org/apache/kafka/raft/ReplicatedLog"
OWN = {LOG: ClassFacts(LOG, 52, 0x601, "java/lang/Object", (), (), ())}


def kin(superclass="java/lang/Object", *interfaces, access=1):
    return Kin(access, superclass, interfaces)


def test_heirs_are_found_through_classes_of_other_jars_and_only_those_that_can_be_made_objects_of():
    core = {
        "k/Abstract": kin("java/lang/Object", LOG, access=0x401),
        "k/Log": kin("k/Abstract"),
        "k/Else": kin("x/Gone"),
    }
    tools = {
        "t/Log": kin("k/Log"),
        "t/Sub": kin("java/lang/Object", LOG, access=0x601),
        LOG: kin("java/lang/Object", LOG),
    }
    assert heirs(OWN, {"core.jar": core, "tools.jar": tools}) == {"k/Log": "core.jar", "t/Log": "tools.jar"}


def test_classes_that_extend_each_other_or_carry_a_line_in_their_name_are_no_heirs():
    assert heirs(OWN, {"x.jar": {"a/A": kin("a/B"), "a/B": kin("a/A"), "a\nwhole\tB": kin(LOG)}}) == {}


def test_a_method_that_several_lack_is_one_difference():
    lacking = {("k/Log", f"{LOG}.end()J"), ("a/Own", f"{LOG}.end()J"), ("k/Log", f"{LOG}.more()V")}
    found = list(describe_lacking(lacking, {"k/Log": "core.jar", "a/Own": "this jar"}))
    assert [(each.rule, each.severity) for each in found] == [("linkage-broken", "fail")] * 2
    assert [each.detail for each in found] == [
        f"a.Own of this jar has no {LOG}.end()J, nor have 1 more: it is abstract, and a call fails",
        f"k.Log of core.jar has no {LOG}.more()V: it is abstract, and a call fails",
    ]
