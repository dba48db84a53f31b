"""Where fields are written and members used: found wherever it is, and nowhere else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.audit.graph import graph_of
from harness.audit.java_sources import parse
from harness.audit.questions import Default, OneThread, Question, SetOnce, UsedIn
from harness.audit.source_answers import answer
from harness.model.proof import Answer

PATCHED = Path(__file__).parent / "audit-fixtures" / "patched"
FILES = {path.relative_to(PATCHED).as_posix(): path.read_bytes() for path in PATCHED.rglob("*.java")}


def asked(question, **classes):
    """Answer a question in classes, given by their bodies; `A_extends_B` is a class A that extends B."""
    files = {f"src/{name}.java": _class(name.split("_"), body) for name, body in classes.items()}
    return answer(Question("q", question), graph_of(parse(files)))


def _class(words, body):
    kind = "interface" if words[0] == "Sender" else "class"
    return f"{kind} {' '.join(words)} {{ {body} }}".encode()


LIST = SetOnce("C.list")
MADE = "private List list; C(List l) { this.list = new ArrayList(l); }"
READ = "int size() { for (Object o : list) y(o); synchronized (list) { return list.size() + this.list.get(0); } }"


def test_a_list_that_only_the_constructor_writes_is_set_once():
    found = asked(LIST, C=f"{MADE} {READ}")
    assert (found.answer, found.detail) == (
        Answer.HOLDS,
        "C.list is written at construction alone: C (C.java:1). Nothing changes what it holds.",
    )
    assert [(each.path, each.line) for each in found.evidence] == [("src/C.java", 1)]


@pytest.mark.parametrize("change", ["compareAndSet(a, b)", "getAndSet(a)", "lazySet(a)", "updateAndGet(f)"])
def test_a_reference_that_is_exchanged_is_changed(change):
    reference = "final AtomicReference list = new AtomicReference();"
    found = asked(LIST, C=f"{reference} void m() {{ list.{change}; }}")
    assert found.answer is Answer.DOES_NOT_HOLD


@pytest.mark.parametrize(
    "fields",
    [
        "final List list = new ArrayList();",
        "List list; { list = new ArrayList(); }",
        "static List list; static { list = new ArrayList(); }",
        "List list; C() { this(1); } C(int i) { list = new ArrayList(); list.add(i); }",
        "List list; C() { List list = x(); list.add(1); give(list); this.list = list; }",
        "String[] list; C() { list = new String[1]; } boolean is() { return list[0] == null; }",
        "List list; C() { if (list != null) { while (list.isEmpty()) { x(); } } }",
    ],
)
def test_initializers_and_variables_of_the_same_name_are_no_later_writes(fields):
    found = asked(LIST, C=fields)
    assert found.answer is Answer.HOLDS, found.detail


@pytest.mark.parametrize(
    "method",
    [
        "void set(List l) { list = l; }",
        "private void set(List l) { this.list = l; }",
        "void more() { list.add(1); }",
        "void less() { list.removeIf(x -> true); }",
        "void other() { list.sort(null); }",
        "void later() { run(() -> list.clear()); }",
        "void set(C other) { other.list = null; }",
    ],
)
def test_a_write_or_a_change_after_construction_is_named(method):
    found = asked(LIST, C=f"{MADE} {method}")
    assert found.answer is Answer.DOES_NOT_HOLD, found.detail
    name = method.partition("(")[0].split(" ")[-1]
    assert found.detail.endswith(f"after its construction: C.{name} (C.java:1).")


@pytest.mark.parametrize(
    "constructor",
    [
        "C(C other) { other.list = null; }",
        "C() { later(() -> list = null); }",
        "C() { later(new Runnable() { public void run() { list = null; } }); }",
    ],
)
def test_what_a_constructor_does_to_another_object_or_later_is_no_construction(constructor):
    assert asked(LIST, C=f"{MADE} {constructor}").answer is Answer.DOES_NOT_HOLD


def test_a_static_field_that_every_constructor_writes_is_not_set_once():
    assert asked(LIST, C="static List list; C() { list = null; }").answer is Answer.DOES_NOT_HOLD


def test_a_write_by_another_class_its_constructor_too_is_named():
    assert asked(LIST, C=MADE, D="C c; void m() { c.list = null; }").answer is Answer.DOES_NOT_HOLD
    assert asked(LIST, C=MADE, D="D(C c) { c.list = null; }").answer is Answer.DOES_NOT_HOLD
    assert asked(LIST, C=MADE, D_extends_C="void m() { list = null; }").answer is Answer.DOES_NOT_HOLD
    assert asked(LIST, C=MADE, D_extends_C="D() { list = null; }").answer is Answer.DOES_NOT_HOLD
    assert asked(LIST, C=f"{MADE} class Inner {{ Inner() {{ list = null; }} }}").answer is Answer.DOES_NOT_HOLD


@pytest.mark.parametrize(
    "method",
    [
        "List get() { return list; }",
        "void give() { other.take(list); }",
        "void keep() { List l = this.list; }",
        "void keep() { other = (list); }",
        "void go() { list.iterator().remove(); }",
        "Runnable later() { return list::clear; }",
        "Supplier later() { return () -> list; }",
        "void set() { list[0] = null; }",
        "void count() { list[0]++; }",
    ],
)
def test_a_list_that_somebody_else_gets_leaves_the_question_open(method):
    found = asked(LIST, C=f"{MADE} {method}")
    assert found.answer is Answer.UNTESTED
    assert "passed on, which may be changed there: C." in found.detail


@pytest.mark.parametrize("kind", ["int", "String", "Long"])
def test_what_nobody_can_change_may_be_passed_on(kind):
    text = f"private final {kind} list; C({kind} l) {{ list = l; }} {kind} get() {{ return list; }}"
    assert asked(LIST, C=text).answer is Answer.HOLDS


def test_a_field_or_a_class_that_is_not_there_leaves_the_question_open():
    assert asked(LIST, C="List other;").detail == "C has no field list."
    assert asked(LIST, D="").detail == "The sources have no class C, or several."


USED = UsedIn(("M.ask",), ("C.one", "C.new"))
ASKED = "int ask() { return 1; } int ask(int i) { return i; }"


def test_every_use_in_the_methods_that_are_named_is_listed_each_method_once():
    found = asked(USED, M=ASKED, C="M m; void one() { m.ask();\n m.ask(2); }\n C() { m.ask(); }")
    assert (found.answer, found.detail) == (
        Answer.HOLDS,
        "M.ask is used nowhere but in C (C.java:3), C.one (C.java:1).",
    )
    assert [each.line for each in found.evidence] == [3, 1, 2]


@pytest.mark.parametrize(
    "other",
    [
        "void two() { m.ask(); }",
        "void two() { run(() -> m.ask()); }",
        "void two() { run(m::ask); }",
        "void two() { run(new Runnable() { int i = m.ask(); }); }",
        "void two() { run(new Runnable() { public void run() { m.ask(); } }); }",
        "static class Inner { M m; void two() { m.ask(); } }",
    ],
)
def test_a_use_in_another_method_is_named(other):
    found = asked(USED, M=ASKED, C=f"M m; void one() {{ m.ask(); }} {other}")
    assert found.answer is Answer.DOES_NOT_HOLD, found.detail
    assert found.detail in (f"M.ask is used in {name}.two (C.java:1) as well." for name in ("C", "Inner"))


def test_a_use_by_a_field_s_initial_value_is_one_of_the_constructors():
    assert asked(USED, M=ASKED, C="M m; int i = m.ask();").answer is Answer.HOLDS
    assert asked(USED, M=ASKED, D="M m; int i = m.ask();", C="").detail == "M.ask is used in D (D.java:1) as well."


def test_a_call_of_the_same_name_on_another_class_is_no_use():
    found = asked(
        USED,
        M=ASKED,
        Other="int ask() { return 2; }",
        C="M m; Other o; void one() { m.ask(); } void two() { o.ask(); }",
    )
    assert found.answer is Answer.HOLDS, found.detail


def test_a_call_of_an_inherited_method_and_one_by_its_interface_are_uses():
    one = "M m; void one() { m.ask(); }"
    inherited = asked(USED, M=ASKED, Sub_extends_M="", C=f"{one} Sub s; void two() {{ s.ask(); }}")
    assert inherited.answer is Answer.DOES_NOT_HOLD
    by_interface = asked(
        USED, M_implements_Sender=ASKED, Sender="int ask();", C=f"{one} Sender s; void two() {{ s.ask(); }}"
    )
    assert by_interface.answer is Answer.DOES_NOT_HOLD
    with_a_body_of_its_own = asked(
        USED, M=ASKED, Other="int ask() { return 0; }", C=f"{one} Other s; void two() {{ s.ask(); }}"
    )
    assert with_a_body_of_its_own.answer is Answer.HOLDS


def test_fields_and_constructors_are_members_as_methods_are():
    made = UsedIn(("M.new",), ("C.one",))
    assert asked(made, M="M() { }", C="void one() { new M(); }").answer is Answer.HOLDS
    assert asked(made, M="M() { }", C="void one() { new M(); } M m = new M();").answer is Answer.DOES_NOT_HOLD
    assert (
        asked(made, M="M() { }", C="void one() { new M(); } void two() { run(M::new); }").answer is Answer.DOES_NOT_HOLD
    )
    field = UsedIn(("M.f",), ("M.one",))
    assert asked(field, M="int f; void one() { f = 1; y(this.f); }").answer is Answer.HOLDS
    assert asked(field, M="int f; void one() { f = 1; } int get() { return f; }").answer is Answer.DOES_NOT_HOLD
    assert asked(field, M="int f; void one() { f = 1; }", D="void two(M m) { m.f++; }").answer is Answer.DOES_NOT_HOLD


def test_a_member_of_another_module_is_known_by_its_class_s_name():
    far = UsedIn(("Elsewhere.ask",), ("C.one",))
    assert asked(far, C="void one() { Elsewhere.ask(1); }").answer is Answer.HOLDS
    assert asked(far, C="void one() { Elsewhere.ask(1); } void two(Elsewhere e) { e.ask(); }").answer is (
        Answer.DOES_NOT_HOLD
    )


def test_a_member_that_nothing_uses_leaves_the_question_open_though_others_are_used():
    both = UsedIn(("M.ask", "M.aks"), ("C.one",))
    found = asked(both, M=ASKED, C="M m; void one() { m.ask(); }")
    assert (found.answer, found.detail) == (Answer.UNTESTED, "Nothing uses M.aks.")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (USED, "ask stands in one"),
        (LIST, "list stands in one"),
        (OneThread("M", ("C.one",)), "M stands in one"),
    ],
)
def test_classes_of_one_name_are_not_read_and_what_stands_in_them_might_be_a_use(question, words):
    classes = {"M": ASKED, "C": f"{MADE} M m; void one() {{ m.ask(); }}"}
    twin = "static class Twin { M m; C c; void two() { m.ask(); c.list = null; } }"
    assert asked(question, **classes).answer is Answer.HOLDS
    found = asked(question, **classes, D=twin, E="static class Twin { }")
    assert found.answer is Answer.UNTESTED
    assert f"But not everything could be read: several classes are named Twin, and {words}" in found.detail
    assert asked(question, **classes, D="static class Twin { }", E="static class Twin { }").answer is Answer.HOLDS


@pytest.mark.parametrize("made", ["Collections.emptyList()", "List.of()"])
def test_an_empty_list_is_a_default_that_is_shown_as_the_configuration_shows_it(made):
    config = (
        f'static final List NONE = {made}; ConfigDef d = new ConfigDef().define("key", LIST, NONE, null, HIGH, "");'
    )
    assert asked(Default("key", "[]"), C=config).answer is Answer.HOLDS
    assert asked(Default("key", "[1]"), C=config).detail.startswith("The key key is defined with the default []")


GRAPH = graph_of(parse(FILES))
METHODS = sorted({method.title for method in GRAPH.acts})
SERVERS = "RequestManager.bootstrapServers"
USING = (
    "RequestManager.new",
    "RequestManager.updateBootstrapServers",
    "RequestManager.findReadyBootstrapServer",
    "RequestManager.backoffBeforeAvailableBootstrapServer",
)


@given(st.sets(st.sampled_from(USING)), st.sets(st.sampled_from(METHODS)))
def test_a_list_is_used_in_some_methods_alone_exactly_where_each_that_uses_it_is_among_them(missing, others):
    methods = tuple(others | (set(USING) - missing))
    found = answer(Question("q", UsedIn((SERVERS,), (*methods, "RequestManager.none"))), GRAPH)
    assert found.answer is (Answer.HOLDS if set(USING) <= set(methods) else Answer.DOES_NOT_HOLD)
    assert all(each in found.detail for each in set(USING) - set(methods) if not each.endswith(".new"))


@given(st.sampled_from(sorted(FILES)), st.integers(0, 3000), st.binary(min_size=1, max_size=20))
def test_damaged_sources_end_in_answers_and_never_in_an_error(path, at, junk):
    content = FILES[path]
    graph = graph_of(parse({**FILES, path: content[:at] + junk + content[at:]}))
    for question in (SetOnce(SERVERS), UsedIn((SERVERS, "RequestManager.new"), ("KafkaRaftClient.new",))):
        assert answer(Question("q", question), graph).detail
