"""What a jar shows of where fields are written and members used, whatever compilers made of their own."""

import pytest

from harness.audit.jar_answers import JarContent, answer_from_jar
from harness.audit.questions import Question, SetOnce, UsedIn
from harness.model.proof import Answer
from harness.proof.bytecode import ClassFacts, FieldFacts, MethodFacts, Use

PUBLIC, STATIC, BRIDGE, SYNTHETIC = 0x0001, 0x0008, 0x0040, 0x1000
OBJECT = "java/lang/Object"


def use(written, line):
    kind, _, member = written.partition(" ")
    owner, _, name = member.partition(".")
    return Use(kind, f"p/{owner}", name, "()V" if name else "", line)


def method(name, *uses, access=PUBLIC):
    """Return a method; uses are written `call Class.method`, and stand one a line from 10."""
    return MethodFacts(name, "()V", access, (), "code", tuple(use(each, line) for line, each in enumerate(uses, 10)))


def class_of(name, *methods, above=OBJECT, interfaces=(), fields=()):
    return ClassFacts(f"p/{name}", 52, PUBLIC, above, interfaces, fields, methods)


def asked(question, *classes):
    return answer_from_jar(Question("q", question), JarContent({each.name: each for each in classes}))


USED = UsedIn(("M.ask",), ("C.one", "C.new"))
M = class_of("M", method("ask"))
ONE = method("one", "call M.ask")


def test_every_use_in_the_methods_that_are_named_is_listed():
    found = asked(USED, M, class_of("C", ONE, method("<init>", "call M.ask"), method("<clinit>", "get M.ask")))
    assert (found.answer, found.detail) == (Answer.HOLDS, "M.ask is used nowhere but in C.one, C.new.")
    assert [(each.path, each.line, each.excerpt) for each in found.evidence] == [
        ("p/C.class", 10, "C.one"),
        ("p/C.class", 10, "C.new"),
        ("p/C.class", 10, "C.new"),
    ]


def test_a_use_in_another_method_is_named():
    found = asked(USED, M, class_of("C", ONE, method("two", "call M.ask")))
    assert (found.answer, found.detail) == (Answer.DOES_NOT_HOLD, "M.ask is used in C.two as well.")


@pytest.mark.parametrize("user", ["one", "two"])
def test_what_compilers_make_stands_for_the_method_that_it_was_made_for(user):
    lambda_ = method("lambda$one$0", "call M.ask", access=SYNTHETIC)
    inner = method("lambda$0", "call C.lambda$one$0", access=SYNTHETIC | STATIC)
    for classes in (
        [class_of("C", lambda_, method(user, "call C.lambda$one$0"))],
        [class_of("C", lambda_, inner, method(user, "call C.lambda$0"))],
        [class_of("C", method(user, "new C$1")), class_of("C$1", method("run", "call M.ask"))],
        [
            class_of("C", method("access$000", "call M.ask", access=SYNTHETIC | STATIC), method(user, "new C$1")),
            class_of("C$1", method("run", "call C.access$000")),
        ],
    ):
        found = asked(USED, M, *classes)
        assert found.answer is (Answer.HOLDS if user == "one" else Answer.DOES_NOT_HOLD), found.detail
        assert f"C.{user}" in found.detail


def test_a_bridge_is_the_method_that_it_is_named_after():
    bridge = method("one", "call M.ask", access=SYNTHETIC | BRIDGE)
    assert asked(USED, M, class_of("C", bridge, method("two", "call C.one"))).answer is Answer.HOLDS


def test_made_methods_that_call_one_another_or_that_nobody_calls_come_to_an_end():
    one, other = (
        method(f"lambda${name}", "call M.ask", f"call C.lambda${to}", access=SYNTHETIC) for name, to in ("ab", "ba")
    )
    assert asked(USED, M, class_of("C", one, other)).detail == "M.ask is used in C.lambda$a, C.lambda$b as well."
    alone = asked(USED, M, class_of("C", method("lambda$a", "call M.ask", access=SYNTHETIC)))
    assert alone.detail == "M.ask is used in C.lambda$a as well."


def test_a_call_by_an_interface_and_one_by_a_class_that_inherits_are_uses():
    one = class_of("C", ONE)
    sender = class_of("Sender", method("ask"))
    below = class_of("M", method("ask"), interfaces=("p/Sender",))
    by_interface = class_of("D", method("two", "call Sender.ask"))
    assert asked(USED, below, sender, one, by_interface).answer is Answer.DOES_NOT_HOLD
    assert asked(USED, M, sender, one, by_interface).answer is Answer.HOLDS
    by_heir = class_of("D", method("two", "call Heir.ask"))
    assert asked(USED, M, class_of("Heir", above="p/M"), one, by_heir).answer is Answer.DOES_NOT_HOLD
    assert asked(USED, M, class_of("Heir", method("ask"), above="p/M"), one, by_heir).answer is Answer.HOLDS


def test_constructors_and_fields_are_members_as_methods_are():
    made = UsedIn(("M.new", "M.f"), ("C.one",))
    one = class_of("C", method("one", "new M", "call M.<init>", "put M.f"))
    assert asked(made, M, one).answer is Answer.HOLDS
    assert asked(made, M, one, class_of("D", method("two", "call M.<init>"))).answer is Answer.DOES_NOT_HOLD
    assert asked(made, M, one, class_of("D", method("two", "get M.f"))).answer is Answer.DOES_NOT_HOLD


def test_a_member_that_nothing_uses_leaves_the_question_open():
    found = asked(UsedIn(("M.ask", "M.KEY"), ("C.one",)), M, class_of("C", ONE))
    assert (found.answer, found.detail) == (
        Answer.UNTESTED,
        "Nothing in the jar is seen to use M.KEY; of a constant that would not show.",
    )


LIST = SetOnce("C.list")
WRITTEN = method("<init>", "put C.list")


def field(descriptor, access=PUBLIC):
    return (FieldFacts("list", descriptor, access, ""),)


def test_a_value_that_only_constructors_write_is_set_once_and_of_a_list_that_stays_open():
    assert asked(LIST, class_of("C", WRITTEN, fields=field("J"))).answer is Answer.HOLDS
    assert asked(LIST, class_of("C", WRITTEN, fields=field("Ljava/lang/String;"))).answer is Answer.HOLDS
    found = asked(LIST, class_of("C", WRITTEN, fields=field("Ljava/util/List;")))
    assert found.answer is Answer.UNTESTED
    assert found.detail.startswith("C.list is written at construction alone. Whether what it holds is changed")


@pytest.mark.parametrize(
    ("owner", "name", "access", "at"),
    [
        ("C", "set", PUBLIC, "C.set (line 10)"),
        ("C", "lambda$new$0", SYNTHETIC, "C.lambda$new$0 (line 10)"),
        ("D", "<init>", PUBLIC, "D.<init> (line 10)"),
    ],
)
def test_a_write_after_construction_is_named(owner, name, access, at):
    writer = method(name, "put C.list", access=access)
    own, others = ([writer], []) if owner == "C" else ([], [class_of("D", writer)])
    found = asked(LIST, class_of("C", WRITTEN, *own, fields=field("J")), *others)
    assert (found.answer, found.detail) == (
        Answer.DOES_NOT_HOLD,
        f"C.list is written after its construction: {at}.",
    )


def test_a_static_field_is_constructed_with_its_class():
    static = field("J", PUBLIC | STATIC)
    assert asked(LIST, class_of("C", method("<clinit>", "put C.list"), fields=static)).answer is Answer.HOLDS
    assert asked(LIST, class_of("C", WRITTEN, fields=static)).answer is Answer.DOES_NOT_HOLD


def test_a_field_that_is_not_there_leaves_the_question_open():
    assert asked(LIST, class_of("C")).detail == "C has no field list."
