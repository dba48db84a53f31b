"""The drop-in proof's rules, on class facts and archives made by hand: no JVM."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.manifests import parse_manifest
from harness.building.configdef import ConfigKey
from harness.building.every_config import EveryConfig
from harness.kafka.patching import Patch, Series
from harness.model.kafka_inventory import REQUIRED, ConfigOwner, DeclaredKey
from harness.model.proof import Difference, Severity
from harness.proof.bytecode import ClassFacts, FieldFacts, MethodFacts, Reference, Use, parse_class, parse_classes
from harness.proof.dropin import loading, named_classes, rules, worst_first
from harness.proof.dropin.api import parse_report
from harness.proof.dropin.class_changes import (
    CompiledBaseline,
    changed_methods,
    changed_top_level,
    closest,
    compare_levels,
    compare_members,
    compare_nests,
    compare_presence,
    compared,
    visible,
)
from harness.proof.dropin.config_keys import compare_configurations, compare_keys
from harness.proof.dropin.constants import compare_constants, held_by
from harness.proof.dropin.entries import (
    JarFacts,
    compare_entries,
    compare_manifests,
    compare_signatures,
    entries_of,
    names_in_code,
    packages_of,
    read_jar,
)
from harness.proof.dropin.linkage import compare_lambdas, compare_linkage, is_inherited, resolve
from harness.proof.dropin.loading import questions_about, read_answer

PUBLIC, PRIVATE, STATIC, FINAL, SYNTHETIC = 0x1, 0x2, 0x8, 0x10, 0x1000
ABSTRACT, INTERFACE = 0x400, 0x601
CONFIG = "org/apache/kafka/raft/QuorumConfig"
STATE = "org/apache/kafka/raft/FollowerState"
MESSAGE = "org/apache/kafka/raft/generated/Data"


def method(name="size", descriptor="()I", access=PUBLIC, code="c1", uses=(), operations=()):
    return MethodFacts(name, descriptor, access, (), code, tuple(uses), tuple(operations))


def call(owner, name, descriptor="()V"):
    return Use("call", owner, name, descriptor, 1)


def facts(name=STATE, *methods, fields=(), major=52, access=PUBLIC, superclass="java/lang/Object", interfaces=()):
    return ClassFacts(name, major, access, superclass, interfaces, tuple(fields), methods, f"{name}.class")


def classes(*every):
    return {each.name: each for each in every}


def nests(base, candidate, named=frozenset(), *more):
    return [d.rule for d in compare_nests(base, compared(candidate, [CompiledBaseline("base", base), *more]), named)]


def names(differences):
    return [difference.rule for difference in differences]


BASE = classes(facts(STATE, method()), facts(CONFIG, method()), facts(MESSAGE, method()))


def test_every_rule_has_a_name_of_its_own_and_says_what_breaks_it():
    assert len({rule.name for rule in rules.ALL}) == len(rules.ALL) > 30
    assert all(rule.description for rule in rules.ALL)


def test_what_a_jar_names_itself_can_be_written_and_does_nothing_to_a_terminal():
    found = rules.ENTRY_ADDED.broken("a\ud800\x1b[2J", "x" * 1000)
    assert found.where == "a\\ud800\\x1b[2J"
    assert len(found.detail) < 700


def test_the_same_classes_differ_in_nothing():
    assert nests(BASE, BASE) == []
    assert names(compare_presence(BASE, BASE, frozenset())) == names(compare_members(BASE, BASE)) == []


def test_a_change_in_a_named_class_is_a_note_whatever_it_is():
    changed = {**BASE, STATE: facts(STATE, method(code="c2"), method("more"))}
    assert nests(BASE, changed, frozenset([STATE])) == ["named-class-changed"]


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        (facts(STATE, method(), method("more")), "unnamed-class-api"),
        (facts(STATE, method(access=PUBLIC | FINAL)), "unnamed-class-api"),
        (facts(STATE, method(), superclass="a/B"), "unnamed-class-api"),
        (facts(STATE, method(code="c2", uses=[call("java/lang/System", "exit", "(I)V")])), "unnamed-class-calls"),
        (facts(STATE, method(code="c2")), "unnamed-class-code"),
        (facts(STATE, method(), method("hidden", access=PRIVATE)), "unnamed-class-code"),
    ],
)
def test_a_change_in_an_unnamed_class_weighs_by_what_changed(changed, rule):
    assert nests(BASE, {**BASE, STATE: changed}) == [rule]


def test_a_nested_class_belongs_to_the_class_that_the_series_names():
    nested = facts(f"{STATE}$Inner", method())
    assert names(compare_presence(BASE, {**BASE, nested.name: nested}, frozenset([STATE]))) == ["named-class-added"]
    assert names(compare_presence(BASE, {**BASE, nested.name: nested}, frozenset())) == ["unnamed-class-added"]


def test_an_unnamed_class_that_equals_any_baseline_is_unchanged():
    by_ecj = {**BASE, STATE: facts(STATE, method(code="by ecj"))}
    assert nests(BASE, by_ecj) == ["unnamed-class-code"]
    assert nests(BASE, by_ecj, frozenset(), CompiledBaseline("ecj", by_ecj)) == []


def test_the_closest_baseline_is_the_one_with_most_classes_identical():
    by_ecj = {**BASE, STATE: facts(STATE, method(code="by ecj")), CONFIG: facts(CONFIG, method(code="by ecj"))}
    nearest, same = closest(by_ecj, [CompiledBaseline("base", BASE), CompiledBaseline("ecj", by_ecj)])
    assert (nearest.label, same) == ("ecj", 3)


def test_a_generated_class_that_only_computes_otherwise_fails_where_the_compiler_is_known():
    many = {**MANY, MESSAGE: facts(MESSAGE, method())}
    assert nests(many, {**many, MESSAGE: facts(MESSAGE, method(code="c2"))}) == ["generated-changed"]
    assert nests(BASE, {**BASE, MESSAGE: facts(MESSAGE, method(code="c2"))}) == ["generated-code"]


MANY = classes(*(facts(f"a/C{number}", method()) for number in range(1000)), facts(STATE, method()))


def weights(base, candidate, named, *more):
    baselines = [CompiledBaseline("base", base), *more]
    return [(d.rule, str(d.severity)) for d in compare_nests(base, compared(candidate, baselines), named)]


def test_another_method_body_in_an_unnamed_class_fails_where_the_compiler_is_known():
    other_body = {**MANY, STATE: facts(STATE, method(code="c2"))}
    assert weights(MANY, other_body, frozenset()) == [("unnamed-class-code", "fail")]
    assert weights(BASE, {**BASE, STATE: other_body[STATE]}, frozenset()) == [("unnamed-class-code", "warning")]


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        (facts(STATE, method(), method("more")), "unnamed-class-api"),
        (facts(STATE, method(code="c2", uses=[call("a/Log", "warn")])), "unnamed-class-calls"),
        (facts(STATE, method(code="c2")), "unnamed-class-code"),
    ],
)
def test_where_nothing_says_which_classes_may_change_a_change_is_a_note(changed, rule):
    assert weights(MANY, {**MANY, STATE: changed}, None) == [(rule, "note")]
    added = facts(f"{STATE}$Inner", method())
    (found,) = compare_presence(MANY, {**MANY, added.name: added}, None)
    assert (found.rule, found.severity) == ("unnamed-class-added", Severity.NOTE)


def test_what_others_would_notice_fails_wherever_it_is():
    assert weights(MANY | BASE, {**MANY, **BASE, MESSAGE: facts(MESSAGE, method(code="c2"))}, None) == [
        ("generated-changed", "fail")
    ]
    gone = {name: each for name, each in MANY.items() if name != STATE}
    assert [d.severity for d in compare_presence(MANY, gone, None)] == [Severity.FAIL]


def change(old, new, named=None):
    """Return the words for what changed in a class whose compiler is known."""
    base, candidate = ({**MANY, **classes(*every)} for every in (old, new))
    (found,) = compare_nests(base, compared(candidate, [CompiledBaseline("base", base)]), named)
    return found.detail


def test_a_changed_class_is_described_by_methods_fields_and_calls():
    log, queue = call("org/slf4j/Logger", "warn", "(Ljava/lang/String;)V"), Use("new", "java/util/ArrayList", "", "", 1)
    old = facts(STATE, method("poll", code="p"), method("old"), fields=[FieldFacts("epoch", "I", PRIVATE, "")])
    new = facts(
        STATE,
        method("poll", code="p2", uses=[log, queue, call("java/util/ArrayList", "<init>")]),
        method("update", "(Ljava/util/List;)V", PRIVATE, code="u"),
        fields=[FieldFacts("epoch", "J", PRIVATE, ""), FieldFacts("known", "Ljava/util/List;", PRIVATE, "")],
    )
    assert change([old], [new]) == (
        "org.apache.kafka.raft.FollowerState: methods changed poll; methods added update; methods removed old; "
        "fields added known; fields changed epoch; calls added Logger.warn, new ArrayList"
    )


def test_nested_classes_and_constructors_are_named_as_in_the_source():
    def nest(code, *uses):
        return [
            facts(
                STATE,
                method("<init>", "()V", code=code),
                method("access$7", "()V", STATIC | SYNTHETIC, code),
                method("poll", code=code, uses=uses),
            ),
            facts(f"{STATE}$Inner", method("get", code=code)),
            facts(f"{STATE}$1", method("run", code=code)),
        ]

    described = change(nest("1"), nest("2", call(f"{STATE}$Inner", "get")))
    assert "methods changed (anonymous).run, Inner.get, constructor, poll;" in described
    assert described.endswith("calls added FollowerState.Inner.get")


def test_a_class_with_many_changes_names_some_and_counts_the_rest():
    new = facts(STATE, method(), *(method(f"m{number}") for number in range(12)))
    assert change([MANY[STATE]], [new]).endswith("methods added m0, m1, m10, m11, m2, m3, m4, m5 and 4 more")


def test_by_an_unknown_compiler_only_a_method_that_uses_something_else_has_changed():
    old = facts(STATE, method("poll", code="p"), method("size", code="s"))
    by_ecj = facts(STATE, method("poll", code="e"), method("size", code="f", uses=[call("a/Log", "warn")]))
    (found,) = compare_nests(
        BASE, compared({**BASE, STATE: by_ecj}, [CompiledBaseline("base", {**BASE, STATE: old})]), None
    )
    assert found.detail.endswith("FollowerState: methods changed size; calls added Log.warn")
    plain = facts(STATE, method("poll", code="e"), method("size", code="f"))
    (found,) = compare_nests(
        BASE, compared({**BASE, STATE: plain}, [CompiledBaseline("base", {**BASE, STATE: old})]), None
    )
    assert found.detail.endswith("FollowerState: other instructions, which may be the compiler's doing")


def test_what_compilers_write_on_their_own_is_no_call():
    accessor = method("access$000", "(La/B;)I", STATIC | SYNTHETIC, uses=[call(STATE, "hidden")])
    javac = {
        **BASE,
        STATE: facts(STATE, method(code="j", uses=[call(STATE, "access$000", "(La/B;)I")]), accessor),
    }
    ecj = {
        **BASE,
        STATE: facts(
            STATE, method(code="e", uses=[call(STATE, "hidden"), call("java/util/Objects", "requireNonNull")])
        ),
    }
    assert nests(javac, ecj) == ["unnamed-class-code"]


def test_a_call_that_is_made_once_less_is_missed():
    twice = {**BASE, STATE: facts(STATE, method(uses=[call("a/Log", "warn"), call("a/Log", "warn")]))}
    once = {**BASE, STATE: facts(STATE, method(code="c2", uses=[call("a/Log", "warn")]))}
    assert nests(twice, once) == ["unnamed-class-calls"]


def test_a_class_that_is_missing_and_a_member_that_is_removed_fail_even_where_the_series_names_them():
    gone = {name: each for name, each in BASE.items() if name != STATE}
    assert names(compare_presence(BASE, gone, frozenset([STATE]))) == ["class-missing"]
    assert names(compare_members(BASE, {**BASE, STATE: facts(STATE)})) == ["member-removed"]


@pytest.mark.parametrize(("access", "severity"), [(0, Severity.WARNING), (PUBLIC, Severity.FAIL), (0x4, Severity.FAIL)])
def test_a_member_that_only_its_package_could_use_is_missed_with_a_warning(access, severity):
    base = classes(facts(STATE, replace(method(), access=access)))
    (found,) = compare_members(base, classes(facts(STATE)))
    assert (found.rule, found.severity) == ("member-removed", severity)


def test_a_member_that_moved_up_is_no_less_there():
    parent, child = facts("a/P", method()), facts("a/S", superclass="a/P")
    base = classes(facts("a/S", method(), method("close", "()V")))
    assert names(compare_members(base, classes(facts("a/S", method("close", "()V"), superclass="a/P"), parent))) == []
    (found,) = compare_members(base, classes(child, parent))
    assert found.where == "a.S.close()V"
    hidden = facts("a/P", method(access=PRIVATE))
    assert names(compare_members(base, classes(facts("a/S", method("close", "()V"), superclass="a/P"), hidden))) == [
        "member-removed"
    ]


def test_what_every_object_has_is_there_without_an_override():
    own = method("toString", "()Ljava/lang/String;")
    base, candidate = classes(facts(STATE, own)), classes(facts(STATE))
    assert names(compare_members(base, candidate)) == []
    reference = Reference("b/User", "call", STATE, "toString", "()Ljava/lang/String;")
    assert names(compare_linkage(base, candidate, {"b.jar": [reference]})) == []


def test_a_class_that_only_its_package_could_name_is_missed_with_a_warning():
    base = classes(facts(STATE, access=0), facts(CONFIG))
    (found,) = compare_presence(base, classes(facts(CONFIG)), frozenset())
    assert (found.rule, found.severity) == ("class-missing", Severity.WARNING)


SYNCHRONIZED = 0x20


@pytest.mark.parametrize("code", ["c1", "by another compiler"])
def test_a_method_that_is_not_synchronized_any_more_is_a_changed_one(code):
    base = {**MANY, STATE: facts(STATE, method(access=PUBLIC | SYNCHRONIZED), method("other"))}
    candidate = {
        name: replace(each, methods=tuple(replace(m, code=code) for m in each.methods)) for name, each in base.items()
    }
    candidate[STATE] = facts(STATE, method(code=code), method("other", code=code))
    found = compared(candidate, [CompiledBaseline("base", base)])
    assert [each.name for each in changed_methods(found)] == ["size"]


def switching(*constants):
    """Return a class with a switch over an enum: its cases are numbers, and whose they are stands beside it."""
    table, kind = f"{STATE}$1", "org/apache/kafka/raft/Isolation"
    read = Use("get", table, "$SwitchMap$org$apache$kafka$raft$Isolation", "[I", 1)
    cases = [use for each in constants for use in (read, Use("get", kind, each, f"L{kind};", 1))]
    made = facts(table, method("<clinit>", "()V", code="-".join(constants), uses=tuple(cases)), access=0x1020)
    return classes(facts(STATE, method("size", uses=(read,)), method("other")), made)


def test_another_case_of_a_switch_over_an_enum_changes_the_method_though_its_instructions_are_the_same():
    base = {**MANY, **switching("COMMITTED", "UNCOMMITTED")}
    for constants, changed in ((("COMMITTED", "UNCOMMITTED"), []), (("UNCOMMITTED", "COMMITTED"), ["size"])):
        found = compared({**base, **switching(*constants)}, [CompiledBaseline("base", base)])
        assert [each.name for each in changed_methods(found)] == changed


def test_what_does_not_load_on_base_either_is_no_difference(monkeypatch):
    optional, ours = (
        rules.REFERENCE_UNRESOLVED.broken(where, f"{where} is not there") for where in ("opt.Tracer", "a.Gone")
    )
    answers = {"base.jar": (replace(optional, detail="in other words"),), "new.jar": (optional, ours)}
    asked = []

    def check(_java, _loader, jar, _classes, _others):
        asked.append(jar.name)
        return answers[jar.name]

    monkeypatch.setattr(loading, "check_loading", check)
    base, candidate = (Path("base.jar"), {}), (Path("new.jar"), {})
    assert loading.newly_broken(None, Path(), base, candidate, ()) == (ours,)
    answers["new.jar"] = ()
    asked.clear()
    assert loading.newly_broken(None, Path(), base, candidate, ()) == ()
    assert asked == ["new.jar"], "base is asked only where there is something to ask"


def test_a_name_with_what_else_ends_a_line_is_read_as_one():
    assert loading.complaints_in("0\tno \u2028 such\x0bmethod\n3\tx\nend\n", Path("a.jar")) == [
        (0, "no \u2028 such\x0bmethod"),
        (3, "x"),
    ]


def test_private_members_and_classes_may_go():
    hidden = facts(f"{STATE}$Inner", method(), access=PRIVATE)
    base = {**BASE, STATE: facts(STATE, method(access=PRIVATE)), hidden.name: hidden}
    candidate = {**BASE, STATE: facts(STATE)}
    assert names(compare_members(base, candidate)) == names(compare_presence(base, candidate, frozenset())) == []


def test_numbered_classes_are_the_compilers_affair():
    numbered = facts(f"{STATE}$1", method(), access=0)
    assert names(compare_presence({**BASE, numbered.name: numbered}, BASE, frozenset())) == []
    assert nests({**BASE, numbered.name: numbered}, BASE) == ["unnamed-class-code"]


def constants(tmp_path, descriptor, before, after, *held, access=PUBLIC, package="a"):
    """Return what is found of a constant with these values beside a jar with a class file that has these bytes."""

    def with_constant(value):
        return classes(facts(CONFIG, fields=[FieldFacts("LIMIT", descriptor, access | STATIC | FINAL, value)]))

    names = (f"{package}/C{number}.class" for number in range(len(held)))
    other = jar(tmp_path / "other.jar", *zip(names, held, strict=True))
    (found,) = compare_constants(with_constant(before), with_constant(after), [other])
    assert (found.rule, found.base, found.candidate) == ("constant-changed", before, after)
    return found


def test_another_number_fails_for_other_jars_may_hold_the_old_one(tmp_path):
    assert constants(tmp_path, "I", "5", "6").blocks
    assert not constants(tmp_path, "I", "", "6").blocks, "no class can have what was no constant"


def test_of_a_number_for_its_package_alone_no_other_jar_has_the_old_one_unless_it_shares_the_package(tmp_path):
    own = CONFIG.rpartition("/")[0]
    found = constants(tmp_path, "I", "5", "6", b"", access=0)
    assert not found.blocks
    assert found.detail.endswith("was 5; it is for its package alone, in which no other jar has a class")
    assert constants(tmp_path, "I", "5", "6", b"", access=0, package=own).blocks
    assert constants(tmp_path, "I", "5", "6", b"", access=0x4).blocks


TEXT = "Ljava/lang/String;"


def test_another_text_fails_where_another_jar_has_the_old_one(tmp_path):
    assert not constants(tmp_path, TEXT, '"some words"', '"other words"', b"..other words..").blocks
    assert not constants(tmp_path, TEXT, "", '"other words"', b"..other words..").blocks
    assert constants(tmp_path, TEXT, '"some words"', '"other words"', b"", b"..some words..").blocks
    assert constants(tmp_path, TEXT, '"some words"', "", b"and some words with it").blocks
    assert constants(tmp_path, TEXT, '""', '"other words"', b"any").blocks


def test_a_text_is_sought_as_class_files_write_it(tmp_path):
    assert held_by([jar(tmp_path / "a", ("a.class", b"\xc3\xbc\xc0\x80\xed\xa0\xbd\xed\xb8\x80"))], {"ü\0😀", "u"}) == {
        "ü\0😀"
    }
    assert held_by([jar(tmp_path / "b", ("a.txt", b"words"))], {"words"}) == frozenset()


def test_classes_for_a_newer_java_are_reported_once_with_the_java_named():
    newer = {name: replace(each, major=65) for name, each in BASE.items()}
    (found,) = compare_levels(BASE, newer)
    assert (found.rule, found.base, found.candidate) == ("bytecode-level", "Java 8", "Java 21")
    assert "3 classes" in found.detail
    assert list(compare_levels(newer, BASE)) == []


def test_a_line_of_the_reader_is_a_class():
    line = [0, "a/B.class", "a/B", 52, 33, "java/lang/Object", ["a/I"], [["x", "I", 2, ""]]]
    found = parse_class([*line, [["f", "()V", 1, ["a/E"], "d1", [["call", "a/C", "g", "()V", 7]], ["3"]]]])
    assert found.methods == (MethodFacts("f", "()V", 1, ("a/E",), "d1", (Use("call", "a/C", "g", "()V", 7),), ("3",)),)
    assert (found.name, found.major, found.interfaces, found.entry) == ("a/B", 52, ("a/I",), "a/B.class")


# --- linkage


def reference(kind="call", name="size", descriptor="()I", owner=STATE):
    return Reference("kafka/User", kind, owner, name, descriptor)


def linked(base, candidate, wanted):
    return [each.detail for each in compare_linkage(base, candidate, {"kafka.jar": [wanted]})]


def test_a_reference_that_resolves_as_before_is_none_of_our_business():
    assert linked(BASE, {**BASE, STATE: facts(STATE, method(code="c2"), method("more"))}, reference()) == []


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        (facts(STATE), "it is not there"),
        (facts(STATE, method(descriptor="()J")), "it is not there"),
        (facts(STATE, method(access=0)), "less accessible"),
        (facts(STATE, method(), access=0), "less accessible"),
        (facts(STATE, method(access=PUBLIC | STATIC)), "static in one jar"),
        (facts(STATE, method(), access=PUBLIC | 0x200), "interface in the other"),
    ],
)
def test_a_reference_that_no_longer_resolves_is_reported_with_its_user(candidate, why):
    (says,) = linked(BASE, {STATE: candidate}, reference())
    assert says.startswith("kafka.User of kafka.jar uses org.apache.kafka.raft.FollowerState.size()I: ")
    assert why in says


def test_a_missing_class_is_reported_once_a_jar_and_not_once_a_member():
    wanted = [reference(), reference("new", "", ""), reference(name="other")]
    (found,) = compare_linkage(BASE, {}, {"kafka.jar": wanted})
    assert found.where == "org.apache.kafka.raft.FollowerState"


def test_a_method_that_moved_to_a_superclass_still_resolves():
    parent = facts("a/Parent", method())
    moved = classes(parent, facts(STATE, superclass="a/Parent"))
    assert resolve(moved, reference()).found
    assert linked(BASE, moved, reference()) == []


@pytest.mark.parametrize(("access", "inherited"), [(PUBLIC | STATIC, False), (PUBLIC, True)])
def test_a_static_method_of_an_interface_is_not_inherited(access, inherited):
    base = classes(facts(STATE, method(access=access)))
    moved = classes(
        facts("a/Sized", method(access=access), access=PUBLIC | 0x200), facts(STATE, interfaces=["a/Sized"])
    )
    assert (linked(base, moved, reference()) == []) is inherited
    assert is_inherited(moved, STATE, method(access=access)) is inherited


def test_a_constructor_is_not_inherited():
    wanted = reference(name="<init>", descriptor="(I)V")
    base = classes(facts(STATE, method("<init>", "(I)V")))
    moved = classes(facts("a/Parent", method("<init>", "(I)V")), facts(STATE, superclass="a/Parent"))
    assert "it is not there" in linked(base, moved, wanted)[0]


def test_what_is_inherited_from_another_jar_must_stay_inherited():
    base, moved = classes(facts(STATE, superclass="other/Jar")), classes(facts(STATE))
    assert linked(base, base, reference()) == []
    assert "no longer inherited" in linked(base, moved, reference())[0]


def test_a_field_that_becomes_final_breaks_who_writes_it_and_a_final_class_who_extends_it():
    def state(access):
        return classes(facts(STATE, fields=[FieldFacts("x", "I", access, "")], access=access))

    base, final = state(PUBLIC), state(PUBLIC | FINAL)
    assert "final" in linked(base, final, reference("put", "x", "I"))[0]
    assert "final" in linked(base, final, reference("extends", "", ""))[0]
    assert linked(base, final, reference("get", "x", "I")) == []


READ, LOG, KIN = (method("read", "()I", PUBLIC | ABSTRACT), "a/Log", "a/Kin")


def lambdas(now, kin=(), of_kin=()):
    """Return what a lambda that implements `Log.read` lacks where `Log` has these methods and extends these."""
    base = classes(facts(LOG, READ, access=INTERFACE))
    candidate = classes(facts(LOG, *now, access=INTERFACE, interfaces=kin), facts(KIN, *of_kin, access=INTERFACE))
    made = Reference("k/User", "lambda", LOG, "read", "()I")
    linked = compare_linkage(base, candidate, {"kafka.jar": [made]})
    return [each.detail for each in (*linked, *compare_lambdas(base, candidate, {"kafka.jar": [made]}))]


def test_a_lambda_of_another_jar_lacks_any_other_abstract_method_than_its_own():
    more = method("more", "()V", PUBLIC | ABSTRACT)
    lacks = "a lambda of k.User of kafka.jar has no a.{}.more()V: it is abstract, and a call fails"
    assert lambdas([READ, more]) == [lacks.format("Log")]
    assert lambdas([READ], [KIN], [more]) == [lacks.format("Kin")]
    assert lambdas([more]) == ["k.User of kafka.jar uses a.Log.read()I: it is not there", lacks.format("Log")]
    assert lambdas([READ]) == []
    assert lambdas([READ, method("more", "()V", PUBLIC)]) == [], "a default method is there"
    assert lambdas([READ, method("more", "()V", PUBLIC)], [KIN], [more]) == [], "the nearer one has code"
    assert lambdas([READ, method("toString", "()Ljava/lang/String;", PUBLIC | ABSTRACT)]) == []


def test_what_base_does_not_resolve_either_says_nothing_of_the_candidate():
    assert linked({}, {}, reference()) == []


@given(st.lists(st.sampled_from("ABCD"), max_size=4), st.sampled_from("ABCD"))
def test_looking_up_ends_even_where_classes_extend_each_other(parents, owner):
    circle = classes(*(facts(name, superclass=parent) for name, parent in zip("ABCD", parents, strict=False)))
    assert not resolve(circle, reference(owner=owner)).found


# --- entries


def jar(path: Path, *entries: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def entries(tmp_path, base, candidate):
    return names(compare_entries(read_jar(jar(tmp_path / "b", *base)), read_jar(jar(tmp_path / "c", *candidate)), {}))


@pytest.mark.parametrize(
    ("base", "candidate", "rule"),
    [
        ([("a.json", b"1")], [], "entry-missing"),
        ([("a.json", b"1")], [("a.json", b"2")], "resource-changed"),
        ([("LICENSE", b"1")], [("LICENSE", b"2")], "text-changed"),
        ([], [("new.txt", b"")], "entry-added"),
        ([("LICENSE", b"1")], [], "text-changed"),
        ([("META-INF/maven/a/pom.properties", b"1")], [("META-INF/maven/a/pom.properties", b"2")], "text-changed"),
        ([("META-INF/maven/a/pom.xml", b"1")], [], "text-changed"),
        ([("kafka/kafka-version.properties", b"version=3.9.1\n")], [], "entry-missing"),
        (
            [("kafka/kafka-version.properties", b"commitId=1\nversion=3.9.1\n")],
            [("kafka/kafka-version.properties", b"commitId=2\nversion=3.9.1\n")],
            "text-changed",
        ),
        (
            [("kafka/kafka-version.properties", b"version=3.9.1\n")],
            [("kafka/kafka-version.properties", b"version=3.9.2-p1\n")],
            "text-changed",
        ),
        (
            [("kafka/kafka-version.properties", b"version=3.9.1\n")],
            [("kafka/kafka-version.properties", b"version=4.0.0\n")],
            "resource-changed",
        ),
        (
            [("kafka/kafka-version.properties", b"version=3.9.1\n")],
            [("kafka/kafka-version.properties", b"commitId=1\n")],
            "resource-changed",
        ),
    ],
)
def test_entries_that_differ_are_reported_by_their_rule(tmp_path, base, candidate, rule):
    assert entries(tmp_path, base, candidate) == [rule]


@pytest.mark.parametrize(
    ("manifest", "entry", "severity"),
    [
        (b"Multi-Release: true\n", "META-INF/versions/9/a/B.class", Severity.FAIL),
        (b"Multi-Release: true\n", "META-INF/versions/9/a.json", Severity.FAIL),
        (b"Multi-Release: true\n", "META-INF/versions/11/module-info.class", Severity.NOTE),
        (b"Multi-Release: false\n", "META-INF/versions/9/a/B.class", Severity.NOTE),
        (b"Version: 3.9.1\n", "META-INF/versions/9/a/B.class", Severity.NOTE),
    ],
)
def test_an_entry_for_certain_java_versions_fails_where_it_hides_one_of_the_jars_own(
    tmp_path, manifest, entry, severity
):
    for name in ("META-INF/MANIFEST.MF", "META-INF/Manifest.mf"):  # Java finds either
        both = [(name, manifest), ("a/B.class", b""), ("a.json", b"")]
        base, candidate = (
            read_jar(jar(tmp_path / of, *both, *more)) for of, more in (("b", []), ("c", [(entry, b"")]))
        )
        (found,) = compare_entries(base, candidate, {})
        assert (found.rule, found.where, found.severity) == ("entry-versioned", entry, severity)


@pytest.mark.parametrize(("old", "new"), [(b"1", b"2"), (b"1", None)], ids=["changed", "gone"])
@pytest.mark.parametrize(("multi", "severity"), [(b"true", Severity.FAIL), (b"false", Severity.NOTE)])
def test_so_does_one_that_base_has_as_well_and_that_is_another_or_gone(tmp_path, old, new, multi, severity):
    entry, both = (
        "META-INF/versions/11/a/B.class",
        [("META-INF/MANIFEST.MF", b"Multi-Release: " + multi), ("a/B.class", b"")],
    )
    base = read_jar(jar(tmp_path / "b", *both, (entry, old)))
    assert [*compare_entries(base, base, {})] == []
    candidate = read_jar(jar(tmp_path / "c", *both, *([(entry, new)] if new else [])))
    (found,) = compare_entries(base, candidate, {})
    assert (found.rule, found.where, found.severity) == ("entry-versioned", entry, severity)


@pytest.mark.parametrize(
    ("entries", "severity"),
    [
        ((), Severity.NOTE),
        (("META-INF/versions/9/module-info.class", "module-info.class"), Severity.NOTE),
        (("META-INF/versions/9/a/C.class",), Severity.NOTE),
        (("META-INF/versions/9/a/B.class",), Severity.FAIL),
    ],
)
def test_a_jar_for_several_javas_fails_only_where_it_hides_something_from_some_of_them(entries, severity):
    names = ("a/B.class", *entries)
    base, candidate = (JarFacts(names, {}, manifest) for manifest in ({}, {"multi-release": "true"}))
    (found,) = compare_manifests(base, candidate)
    assert (found.where, found.severity) == ("multi-release", severity)


VERSION = ("kafka/kafka-version.properties", b"commitId=1\nversion=3.9.1\n")


@pytest.mark.parametrize(
    ("missing", "of_others", "severity"),
    [
        (VERSION, VERSION, Severity.WARNING),  # as javac and jar leave it out, and kafka-clients has it
        (VERSION, (VERSION[0], b"commitId=2\nversion=3.9.1\n"), Severity.WARNING),
        (VERSION, (VERSION[0], b"version=4.0.0\n"), Severity.FAIL),
        (VERSION, ("kafka/other.properties", VERSION[1]), Severity.FAIL),
        (("a.json", b"1"), ("a.json", b"1"), Severity.WARNING),
        (("a.json", b"1"), ("a.json", b"2"), Severity.FAIL),
    ],
)
def test_nobody_misses_an_entry_that_another_jar_has_alike(tmp_path, missing, of_others, severity):
    base = read_jar(jar(tmp_path / "b", missing))
    elsewhere = entries_of([jar(tmp_path / "o", of_others)], {missing[0]})
    (found,) = compare_entries(base, read_jar(jar(tmp_path / "c")), elsewhere)
    assert (found.rule, found.severity) == ("entry-missing", severity)
    assert ("another jar has it" in found.detail) == (not found.blocks)


def test_nobody_misses_a_resource_that_no_class_names_nor_a_manifest_that_says_nothing(tmp_path):
    manifest = ("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\n")
    base = read_jar(jar(tmp_path / "b", ("schema.json", b"1"), manifest))
    candidate = read_jar(jar(tmp_path / "c"))
    (found,) = compare_entries(base, candidate, {}, {"schema.json"})
    assert (found.rule, found.severity, found.where) == ("entry-missing", Severity.WARNING, "schema.json")
    assert found.detail == "schema.json is missing; no class of this Kafka names it"


@pytest.mark.parametrize(
    ("resource", "names"), [("common/message/A.json", {"A.json"}), ("words.properties", {"words.properties", "words"})]
)
def test_a_class_names_a_resource_by_its_file_or_without_the_ending_that_java_adds(resource, names):
    assert names_in_code(resource) == names


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b'// new\n{"name": "A", "fields": [{"name": "b", "about": "better"}]}', "text-changed"),
        (b'{"name": "A", "fields": [{"name": "c", "about": "b"}]}', "resource-changed"),
        (b'{"name": "A", "fields": [', "resource-changed"),
    ],
)
def test_a_schema_says_the_same_whatever_explains_it(tmp_path, content, rule):
    schema = b'// old\n{"name": "A", "fields": [{"name": "b", "about": "b"}]}'
    assert entries(tmp_path, [("A.json", schema)], [("A.json", content)]) == [rule]


A_CLASS, A_LICENCE, A_SCHEMA = ("a/B.class", b"1"), ("META-INF/LICENSE", b"1"), ("a.json", b"1")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("first", "second", "severity"),
    [
        (A_CLASS, A_CLASS, Severity.WARNING),
        (A_LICENCE, A_LICENCE, Severity.WARNING),
        (A_LICENCE, ("META-INF/LICENSE", b"2"), Severity.WARNING),
        (A_SCHEMA, A_SCHEMA, Severity.WARNING),
        (A_SCHEMA, ("a.json", b"2"), Severity.FAIL),
        (("a.json", b"2"), A_SCHEMA, Severity.FAIL),
    ],
)
def test_a_name_that_is_there_twice_fails_where_readers_may_read_another_content(tmp_path, first, second, severity):
    once, twice = read_jar(jar(tmp_path / "once", second)), read_jar(jar(tmp_path / "twice", first, second))
    (found,) = compare_entries(once, twice, {})
    assert (found.rule, found.where, found.severity) == ("entry-duplicate", first[0], severity)
    assert (found.base, found.candidate) == ("1", "2")
    assert ("each with the same content" in found.detail) == (first == second)
    assert not [*compare_entries(twice, twice, {})]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_class_that_is_there_twice_and_not_the_same_is_refused(tmp_path):
    twice = jar(tmp_path / "twice", A_CLASS, ("a/B.class", b"2"))
    with pytest.raises(HarnessError, match=r"'a/B\.class' twice, and not the same"):
        read_jar(twice)
    with pytest.raises(HarnessError, match=r"'a/B\.class' twice, and not the same"):
        entries_of([twice], {"a.json"})


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_an_entry_that_another_jar_has_twice_either_is_as_good(tmp_path):
    twice = jar(tmp_path / "other", A_SCHEMA, ("a.json", b"2"))
    assert entries_of([twice], {"a.json"}) == {"a.json": {b"1", b"2"}}


def test_folders_and_the_order_of_entries_make_no_difference(tmp_path):
    assert entries(tmp_path, [("a", b"1"), ("b", b"2")], [("d/", b""), ("b", b"2"), ("a", b"1")]) == []


def test_manifest_attributes_weigh_by_what_they_do(tmp_path):
    def manifest(text):
        return read_jar(jar(tmp_path / "m", ("META-INF/MANIFEST.MF", text)))

    base = manifest(b"Manifest-Version: 1.0\r\nVersion: 3.9.1\r\nCreated-By: a\r\n\r\n")
    other = manifest(b"Manifest-Version: 1.0\nVersion: 3.9.2\nCreated-By: b\nClass-Path: evil.jar\n\n")
    assert names(compare_manifests(base, other)) == ["manifest-loading", "manifest-build", "manifest-changed"]
    vendors = manifest(b"Manifest-Version: 1.0\nVersion: 3.9.1\nCreated-By: a\nAutomatic-Module-Name: kafka.raft\n\n")
    (named,) = compare_manifests(base, vendors)
    assert (named.rule, named.blocks) == ("manifest-changed", False)


def test_a_continued_manifest_line_is_one_line():
    assert parse_manifest(b"Class-Path: a.j\r\n ar\r\n\r\nName: x\r\nSealed: true\r\n") == {"class-path": "a.jar"}


@given(st.binary(max_size=200))
def test_no_manifest_is_too_broken_to_be_read(content):
    parse_manifest(content)


def signed(tmp_path, name, content=b""):
    files = [(f"META-INF/{name}.{each}", content) for each in ("SF", "RSA") if name]
    return read_jar(jar(tmp_path / "signed", ("org/apache/kafka/raft/A.class", b""), *files))


def test_other_signers_fail_where_another_jar_has_classes_in_a_package_of_the_jar(tmp_path):
    plain, me, you = (signed(tmp_path, name) for name in ("", "ME", "YOU"))
    for old, new in ((plain, me), (me, plain), (you, me)):
        (alone,) = compare_signatures(old, new, {"org/apache/kafka/server"})
        (shared,) = compare_signatures(old, new, {"org/apache/kafka/server", "org/apache/kafka/raft"})
        assert (alone.rule, alone.severity) == ("signature-changed", Severity.NOTE)
        assert (shared.rule, shared.severity) == ("signature-changed", Severity.FAIL)
        assert names(compare_entries(old, new, {})) == []


def test_another_signature_of_the_same_signer_is_no_difference(tmp_path):
    old, new = signed(tmp_path, "ME", b"1"), signed(tmp_path, "ME", b"2")
    assert names(compare_signatures(old, new, {"org/apache/kafka/raft"})) == names(compare_entries(old, new, {})) == []


def test_a_modules_description_is_no_class_and_of_no_package():
    class_, module = (
        [0, f"{name}.class", name, 53, access, "", [], [], []]
        for name, access in (("a/B", 33), ("module-info", 0x8000))
    )
    assert [list(each) for each in parse_classes([class_, module], 2)] == [["a/B"], []]
    assert packages_of(["a/B.class", "module-info.class", "c.txt", "META-INF/versions/9/d/E.class"]) == {"a"}


# --- configuration


KEY = ConfigKey("k", "INT", "1", "HIGH", "[1,...]")
FLAG = ConfigKey("flag", "BOOLEAN", "true", "LOW")


@pytest.mark.parametrize(
    ("candidate", "rule"),
    [
        ([], "config-removed"),
        ([replace(KEY, default="2")], "default-changed"),
        ([replace(KEY, type="LONG")], "config-changed"),
        ([replace(KEY, validator="")], "config-changed"),
        ([replace(KEY, importance="LOW")], "importance-changed"),
        ([KEY, FLAG], "config-added"),
        ([KEY, replace(FLAG, name="other")], "config-unclaimed"),
    ],
)
def test_keys_that_differ_are_reported_by_their_rule(candidate, rule):
    assert names(compare_keys([KEY], candidate, "flag", "true")) == [rule]


def test_the_flags_default_is_held_against_the_claims():
    found = list(compare_keys([], [replace(FLAG, default="false")], "flag", "true"))
    assert names(found) == ["config-added", "default-changed"]
    assert found[1].detail == "flag is false; the claims say true"
    assert names(compare_keys([FLAG], [FLAG], "", "")) == []


def declared(default="1", name="k", validator=""):
    return DeclaredKey(name, "INT", default, validator, "HIGH")


def configured(unread=None, **owners):
    found = (ConfigOwner(owner.replace("_", "#"), tuple(keys)) for owner, keys in owners.items())
    return EveryConfig(tuple(found), unread or {})


def compare_owners(candidate, base=None, flag=""):
    base = base or configured(Quorum=[declared(name="q")], Log=[declared(), declared(name="l")])
    return [(each.rule, each.where) for each in compare_configurations(base, candidate, flag, "true")]


@pytest.mark.parametrize(
    ("of_log", "found"),
    [
        ([declared("2"), declared(name="l")], [("default-changed", "k")]),
        ([declared()], [("config-removed", "l")]),
        ([declared(validator="[1,...]"), declared(name="l")], [("config-changed", "k")]),
        ([declared(), declared(name="l"), declared(name="new")], [("config-unclaimed", "new")]),
        ([declared(REQUIRED), declared(name="l")], [("default-changed", "k")]),
        ([declared(), declared(name="l")], []),
    ],
)
def test_the_keys_of_every_class_are_held_against_those_of_base(of_log, found):
    assert compare_owners(configured(Quorum=[declared(name="q")], Log=of_log)) == found


def test_a_key_that_another_class_has_alike_is_still_missing_where_it_was():
    moved = configured(Quorum=[declared(name="q"), declared()], Log=[declared(name="l")])
    assert compare_owners(moved) == [("config-removed", "k"), ("config-unclaimed", "k")]


def test_a_class_that_cannot_be_asked_any_more_fails_by_its_name_and_not_key_by_key():
    broken = configured({"Log": "java.lang.NoClassDefFoundError: x"}, Quorum=[declared(name="q")])
    assert compare_owners(broken) == [("config-unreadable", "Log")]


def test_a_class_that_cannot_be_asked_in_base_is_named_and_does_not_weigh():
    why = {"Log": "java.lang.NoClassDefFoundError: x"}
    both = configured(why, Quorum=[declared(name="q")])
    assert compare_owners(both, both) == [("config-not-compared", "Log")]
    readable = configured(Quorum=[declared(name="q")], Log=[declared()])
    (said,) = compare_configurations(both, readable, "", "true")
    assert said.severity is Severity.NOTE
    expected = (
        "the keys of Log are not compared, since base's jar does not show them: java.lang.NoClassDefFoundError: x"
    )
    assert said.detail == expected


def test_a_second_definition_in_a_class_hides_no_change_of_the_first_and_removes_nothing():
    both = {"Quorum": [declared(name="q")], "Log_A": [declared(), declared(name="l")]}
    assert compare_owners(configured(**both, Log_B=[declared(), declared(name="b")])) == [("config-unclaimed", "b")]
    hidden = configured(**both, Log_B=[declared("2"), declared(name="b")])
    assert ("default-changed", "k") in compare_owners(hidden)


# --- japicmp and the loader


REPORT = b"""<japicmp><classes>
<class fullyQualifiedName="a.B" changeStatus="MODIFIED"><compatibilityChanges/>
 <superclass><compatibilityChanges>
  <compatibilityChange binaryCompatible="false" sourceCompatible="false" type="SUPERCLASS_REMOVED"/>
 </compatibilityChanges></superclass>
 <methods><method name="f"><parameters><parameter type="int"/></parameters><compatibilityChanges>
  <compatibilityChange binaryCompatible="true" sourceCompatible="false" type="METHOD_ADDED_TO_INTERFACE"/>
  <compatibilityChange binaryCompatible="true" sourceCompatible="true" type="METHOD_ADDED_TO_PUBLIC_CLASS"/>
 </compatibilityChanges></method></methods>
</class>
<class fullyQualifiedName="a.C" changeStatus="REMOVED"><compatibilityChanges>
  <compatibilityChange binaryCompatible="false" sourceCompatible="false" type="CLASS_REMOVED"/>
 </compatibilityChanges>
 <fields><field name="x"><compatibilityChanges>
  <compatibilityChange binaryCompatible="false" sourceCompatible="false" type="FIELD_REMOVED"/>
 </compatibilityChanges></field></fields>
</class></classes></japicmp>"""


def test_incompatibilities_are_read_from_japicmps_report():
    found = [(each.rule, each.detail) for each in parse_report(REPORT, Path("c.jar"), {"a/B", "a/C"})]
    assert found == [
        ("api-binary", "a.B: superclass removed"),
        ("api-source", "a.B.f(int): method added to interface"),
        ("api-binary", "a.C: class removed"),
    ]


def of_member(tag, *sides):
    """Return a report of a member that is gone, or is private now, with its modifiers."""
    modifiers = "".join(f'<modifier oldValue="{old}" newValue="{new}"/>' for old, new in sides)
    change = '<compatibilityChange binaryCompatible="false" sourceCompatible="false" type="REMOVED"/>'
    inside = f"<modifiers>{modifiers}</modifiers><compatibilityChanges>{change}</compatibilityChanges>"
    of_class = '<class fullyQualifiedName="a.B" changeStatus="MODIFIED">'
    member = f'{of_class}<{tag}s><{tag} name="f">{inside}</{tag}></{tag}s></class>'
    return f"<japicmp><classes>{member}</classes></japicmp>".encode()


@pytest.mark.parametrize("tag", ["method", "field", "constructor"])
@pytest.mark.parametrize(
    ("old", "new", "severity"),
    [
        ("PACKAGE_PROTECTED", "n.a.", Severity.WARNING),
        ("PACKAGE_PROTECTED", "PRIVATE", Severity.WARNING),
        ("PROTECTED", "PACKAGE_PROTECTED", Severity.FAIL),
        ("PUBLIC", "n.a.", Severity.FAIL),
    ],
)
def test_what_only_its_package_could_use_breaks_nobody_else(tag, old, new, severity):
    report = of_member(tag, ("NON_FINAL", "NON_FINAL"), (old, new))
    (found,) = parse_report(report, Path("c.jar"), {"a/B"})
    assert (found.rule, found.severity) == ("api-binary", severity)


@pytest.mark.parametrize("content", [b"", b"<html/>", b"<japicmp>", b'<!DOCTYPE a [<!ENTITY b "c">]><japicmp/>'])
def test_what_is_no_report_is_reported_in_a_sentence(content):
    with pytest.raises(HarnessError, match=r"japicmp cannot compare c\.jar with base: "):
        parse_report(content, Path("c.jar"), frozenset())


def test_what_no_source_can_name_is_no_api():
    base = classes(facts("a/B"), facts("a/C"), facts("a/C$1"), facts("a/C$In", access=PRIVATE), facts("a/C$In$Of"))
    seen = visible(base).keys()
    assert seen == {"a/B", "a/C"}
    assert len(parse_report(REPORT, Path("c.jar"), seen)) == 3
    for hidden in ("a.C$1", "a.C$In", "a.C$In$Of"):
        report = REPORT.replace(b'"a.C"', f'"{hidden}"'.encode())
        assert {each.where for each in parse_report(report, Path("c.jar"), seen)} == {"a.B", "a.B.f(int)"}


def test_the_loader_is_asked_for_each_class_and_each_use_once_and_its_complaints_are_differences():
    used = Use("call", "a/C", "g", "()V", 1, "", "static interface")
    asked = questions_about(classes(facts(STATE, method(uses=[used, used]))))
    user = "org.apache.kafka.raft.FollowerState"
    assert [each.line for each in asked] == [f"class\t{user}", f"use\t{user}\tcall\ta/C\tg\t()V\tstatic interface"]
    found = read_answer("0\tjava.lang.VerifyError: bad\n1\tit is not there\nend\n", asked, Path("c.jar"))
    assert names(found) == ["loading-broken", "reference-unresolved"]
    assert found[1].detail.endswith("FollowerState uses a.C.g()V, line 1: it is not there")


def test_what_one_class_may_use_another_may_not_so_that_both_are_asked_and_the_first_that_fails_is_named():
    every = (facts(name, method(uses=[call("a/C", "g")])) for name in ("a/Friend", "b/One", "b/Two"))
    asked = questions_about(classes(*every))
    assert len(asked) == 6
    (found,) = read_answer("4\tit is private\n5\tit is private\nend\n", asked, Path("c.jar"))
    assert found.detail == "b.One uses a.C.g()V, line 1: it is private"


def test_a_loader_that_was_cut_off_is_an_error_and_no_proof():
    with pytest.raises(HarnessError, match="could not be found out"):
        read_answer("", [], Path("c.jar"))


def test_a_name_cannot_forge_a_question():
    assert questions_about(classes(facts("a\nclass\tevil"))) == []


# --- the whole


def test_the_classes_that_a_series_names_are_those_whose_files_it_touches(tmp_path):
    patch = tmp_path / "a.patch"
    patch.write_text(
        "--- a/raft/src/main/java/a/B.java\n+++ b/raft/src/main/java/a/B.java\n@@ -1 +1 @@\n-x\n+y\n"
        "--- /dev/null\n+++ b/raft/src/main/java/a/New.java\n@@ -0,0 +1 @@\n+z\n"
        "--- a/raft/src/test/java/a/BTest.java\n+++ b/raft/src/test/java/a/BTest.java\n"
    )
    assert named_classes(Series("s", "3.9.1", (Patch("a.patch", patch, {}),))) == {"a/B", "a/New"}


def test_differences_come_worst_first_and_once():
    note = Difference("z", Severity.NOTE, "w", "s")
    warning, failure = replace(note, severity=Severity.WARNING), replace(note, severity=Severity.FAIL)
    assert worst_first([note, failure, warning, failure]) == (failure, warning, note)


def changed(candidate, *compiled):
    baselines = [CompiledBaseline(str(number), each) for number, each in enumerate((BASE, *compiled))]
    return [(each.class_name, each.name) for each in changed_methods(compared({**BASE, **candidate}, baselines))]


def test_changed_methods_are_those_that_do_something_else_and_all_of_a_new_class():
    other = facts(
        STATE, method(code="c2", uses=[call("a/B", "f")]), method("gone", code="c3"), method("abstract", code="")
    )
    assert changed(classes(other)) == [(STATE, "gone"), (STATE, "size")]
    assert changed(classes(facts(f"{STATE}$New", method()))) == [(f"{STATE}$New", "size")]
    assert changed({}) == []


def test_a_class_has_changed_when_one_nested_in_it_has_or_is_gone_or_new():
    inner, other = facts(f"{STATE}$Inner", method()), facts(f"{STATE}$Inner", method(code="c2"))
    base = [CompiledBaseline("base", {**BASE, inner.name: inner})]
    for candidate in ({**BASE, other.name: other}, BASE, {**BASE, inner.name: inner, f"{STATE}$New": other}):
        assert changed_top_level(candidate, base) == {STATE.replace("/", ".")}
    assert changed_top_level(base[0].classes, base) == frozenset()


def test_a_method_that_one_of_the_baselines_has_alike_has_not_changed():
    by_ecj = classes(facts(STATE, method(code="c2"), method("more", code="c3", uses=[call("a/B", "f")])))
    assert changed(by_ecj, {**BASE, **by_ecj}) == []


def changed_by_another_compiler(old, new):
    """Return the changed methods of a jar with this class, where each method has instructions of its own compiler."""
    others = [[facts(f"a/C{number}", method(code=code)) for number in range(20)] for code in ("one", "another")]
    base, candidate = (classes(*every, each) for every, each in zip(others, (old, new), strict=True))
    return [each.label for each in changed_methods(compared(candidate, [CompiledBaseline("base", base)]))]


def test_by_a_compiler_that_computes_alike_a_method_with_another_constant_or_comparison_has_changed():
    old = classes(*(facts(f"a/C{n}", method(code="8", operations=["1", "<"])) for n in range(100)))
    by_javac_17 = {name: facts(name, method(code="17", operations=["1", "<"])) for name in old}
    constant = {**by_javac_17, "a/C1": facts("a/C1", method(code="17x", operations=["2", "<"]))}
    comparison = {**by_javac_17, "a/C2": facts("a/C2", method(code="17x", operations=["1", "<="]))}
    base = [CompiledBaseline("base", old)]
    assert changed_methods(compared(by_javac_17, base)) == ()
    assert [each.label for each in changed_methods(compared(constant, base))] == ["C1.size"]
    assert [each.label for each in changed_methods(compared(comparison, base))] == ["C2.size"]


def test_by_a_compiler_that_turns_conditions_round_only_other_uses_show_a_change():
    old = classes(*(facts(f"a/C{n}", method(code="8", operations=["<"])) for n in range(100)))
    by_ecj = {name: facts(name, method(code="e", operations=[">=" if name < "a/C2" else "<"])) for name in old}
    edited = {**by_ecj, "a/C5": facts("a/C5", method(code="e", operations=["<"], uses=[call("a/Log", "warn")]))}
    base = [CompiledBaseline("base", old)]
    assert changed_methods(compared(by_ecj, base)) == ()
    assert [each.label for each in changed_methods(compared(edited, base))] == ["C5.size"]


def test_what_a_compiler_takes_out_of_a_method_is_part_of_it():
    constant, log = Use("get", STATE, "NO_FLAG", "I", 1), call("a/Log", "warn")
    inline = facts(STATE, method("poll", code="8", uses=[constant, log], operations=["3"]))

    def apart(*uses):
        lambda_ = method("lambda$poll$0", "()V", PRIVATE | STATIC | SYNTHETIC, "l", uses, ["3"])
        return facts(STATE, method("poll", code="17", uses=[call(STATE, "lambda$poll$0")]), lambda_)

    assert changed_by_another_compiler(inline, apart(constant, log)) == []
    assert changed_by_another_compiler(inline, apart(constant)) == ["FollowerState.poll"]


def test_an_objects_own_method_is_the_same_whichever_type_it_is_called_on():
    old = facts(STATE, method(code="8", uses=[call("java/lang/Object", "hashCode", "()I")]))
    new = facts(STATE, method(code="25", uses=[call("java/util/NavigableMap", "hashCode", "()I")]))
    assert changed_by_another_compiler(old, new) == []


def test_methods_that_lead_to_themselves_or_to_ever_more_are_read_at_once():
    def made(number):
        target = call(STATE, f"lambda$a${(number + 1) % 500}")
        return method(
            f"lambda$a${number}", "()V", PRIVATE | STATIC | SYNTHETIC, "l", [target, target, call("a/B", "f")]
        )

    twisted = facts(STATE, method("poll", code="p", uses=[call(STATE, "lambda$a$0")]), *map(made, range(500)))
    assert changed(classes(twisted)) == [(STATE, "poll")]


def test_lambdas_that_are_numbered_otherwise_make_no_difference():
    def numbered(first, second):
        lambdas = [
            method(f"lambda$poll${number}", "()V", PRIVATE | STATIC | SYNTHETIC, code)
            for number, code in ((first, "a"), (second, "b"))
        ]
        return {**MANY, STATE: facts(STATE, method("poll", code="p"), *lambdas)}

    assert weights(numbered(0, 1), numbered(1, 0), frozenset()) == []
    other = numbered(0, 1)[STATE]
    edited = replace(other, methods=(*other.methods[:2], replace(other.methods[2], code="c")))
    assert weights(numbered(0, 1), {**MANY, STATE: edited}, frozenset()) == [("unnamed-class-code", "warning")]


def test_what_cannot_be_named_is_no_certain_change_even_where_the_compiler_is_known():
    table = facts(f"{STATE}$1", method("<clinit>", "()V", STATIC, "t"), access=SYNTHETIC)
    other = facts(f"{STATE}$1", method("<clinit>", "()V", STATIC, "u"), access=SYNTHETIC)
    base, candidate = ({**MANY, each.name: each} for each in (table, other))
    assert weights(base, candidate, frozenset()) == [("unnamed-class-code", "warning")]
