"""The source audit: it finds what is there, whatever it is called and however it is laid out."""

from dataclasses import replace
from pathlib import Path

import pytest
import tree_sitter_java
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language, Parser

from harness.audit.answering import audit
from harness.audit.claims_file import load_claims
from harness.audit.code import Code
from harness.audit.graph import graph_of
from harness.audit.java_sources import parse, read_sources
from harness.audit.questions import FollowedBy, OneThread, Question, ReadOnce
from harness.audit.source_answers import answer
from harness.base.errors import HarnessError
from harness.base.paths import data_root
from harness.model.proof import Answer

PATCHED = Path(__file__).parent / "audit-fixtures" / "patched"
CLAIMS = load_claims(data_root() / "patches/3.9.1/dynamic-bootstrap/claims.toml")
FILES = {path.relative_to(PATCHED).as_posix(): path.read_bytes() for path in PATCHED.rglob("*.java")}
TOP = "raft/src/main/java/org/apache/kafka/raft"
CLIENT, MANAGER, CONFIG = f"{TOP}/KafkaRaftClient.java", f"{TOP}/RequestManager.java", f"{TOP}/QuorumConfig.java"
REFRESH = "\n        maybeUpdateBootstrapServers();"
REFRESHES, GUARDED, ONCE = "appends-and-snapshots-refresh", "flag-guards-the-refresh", "list-is-read-once"
DEFAULT, KEPT = "flag-is-on-by-default", "released-constructor-is-kept"
QUIET = "refresh-is-logged-quietly"
UPDATES = "requestManager.updateBootstrapServers(voterNodes);"
SIX = "QuorumConfig(int request, int retry, int election, int electionBackoff, int fetch, int linger)"
FLAG = "!quorumConfig.dynamicBootstrapServersEnabled() || "


def answers_in(files):
    graph = graph_of(parse(files))
    return {question.id: answer(question, graph) for question in CLAIMS.questions}


def shown(files):
    return {name: each.answer for name, each in answers_in(files).items()}


def changed(path, old, new, count=1):
    content = FILES[path].decode()
    assert old in content
    return {**FILES, path: content.replace(old, new, count).encode()}


SOUND = shown(FILES)


def test_what_the_claims_promise_holds_in_the_patch():
    promised = [each for each in answers_in(FILES).values() if each.claim]
    assert {each.question for each in promised} == {
        REFRESHES,
        ONCE,
        GUARDED,
        DEFAULT,
        KEPT,
        QUIET,
    }
    assert {each.answer for each in promised} == {Answer.HOLDS}


def test_starting_and_truncating_are_found_not_to_refresh_and_nobody_promises_it():
    found = answers_in(FILES)
    start, truncation = found["every-update-refreshes"], found["every-truncation-refreshes"]
    assert (start.answer, truncation.answer) == (Answer.DOES_NOT_HOLD, Answer.DOES_NOT_HOLD)
    assert "1 of 4 calls" in start.detail
    assert "KafkaRaftClient.initialize (KafkaRaftClient.java:32)" in start.detail
    assert "KafkaRaftClient.handleFetchResponse" in truncation.detail
    assert not start.blocks
    assert not truncation.blocks


def test_the_refresh_and_its_line_are_found_to_come_with_every_append_at_info():
    found = answers_in(FILES)
    assert found["refresh-only-on-change"].answer is Answer.DOES_NOT_HOLD
    log = found["log-only-on-change"]
    assert log.answer is Answer.DOES_NOT_HOLD
    assert "is logged at INFO after 3 of 4 calls" in log.detail
    assert "KafkaRaftClient.appendAsFollower" in log.detail
    quieter = answers_in(changed(CLIENT, 'info("Updated', 'debug("Updated'))
    assert "is logged at DEBUG" in quieter["log-only-on-change"].detail


def test_a_snapshot_is_followed_by_a_refresh_since_the_other_way_throws():
    assert SOUND["every-snapshot-truncation-refreshes"] is Answer.HOLDS


def test_evidence_is_the_line_in_the_source():
    place = answers_in(FILES)["every-update-refreshes"].evidence[0]
    assert (place.path, place.line, place.excerpt) == (CLIENT, 32, "partitionState.updateState();")
    assert FILES[CLIENT].decode().split("\n")[31].strip() == place.excerpt


@pytest.mark.parametrize(
    ("path", "old", "new", "question", "words"),
    [
        (CLIENT, f"{REFRESH}\n        logger.trace", "\n        logger.trace", REFRESHES, "appendAsFollower"),
        (CLIENT, f"{REFRESH}\n        return offset", "\n        return offset", REFRESHES, "appendAsLeader"),
        (CLIENT, "\n                maybeUpdateBootstrapServers();", "", REFRESHES, "1 of 3 calls"),
        (
            CLIENT,
            "partitionState.updateState();\n        maybeUpdateBootstrapServers();\n        return",
            "maybeUpdateBootstrapServers();\n        partitionState.updateState();\n        return",
            REFRESHES,
            "appendAsLeader",
        ),
        (CLIENT, UPDATES, "", REFRESHES, "3 of 3 calls"),
        (
            CLIENT,
            UPDATES,
            "if (quorum.isObserver()) requestManager.updateBootstrapServers(voterNodes);",
            REFRESHES,
            "3 of 3 calls",
        ),
        (
            MANAGER,
            "bootstrapServers = new ArrayList<>(newB",
            "List<Node> unused = new ArrayList<>(newB",
            REFRESHES,
            "3 of 3 calls",
        ),
        (CLIENT, FLAG, "", GUARDED, "Even while QuorumConfig.dynamicBootstrapServersEnabled is false"),
        (CLIENT, FLAG, FLAG[1:], GUARDED, "maybeUpdateBootstrapServers"),
        (CLIENT, "Enabled() || requestManager", "Enabled() && requestManager", GUARDED, "Even while"),
        (
            CLIENT,
            "void maybeUpdateBootstrapServers() {",
            'void maybeUpdateBootstrapServers() {\n        logger.info("Updated bootstrap servers, or not");',
            GUARDED,
            "or the line 'Updated bootstrap servers'",
        ),
        (MANAGER, "random.nextInt(servers.size())", "random.nextInt(bootstrapServers.size())", ONCE, "findReady"),
        (MANAGER, "i < servers.size()", "i < this.bootstrapServers.size()", ONCE, "findReadyBootstrapServer"),
        (MANAGER, "private volatile List", "private List", ONCE, "not volatile"),
        (CONFIG, "DEFAULT_DYNAMIC = true", "DEFAULT_DYNAMIC = false", DEFAULT, "with the default false"),
        (CONFIG, "BOOLEAN, DEFAULT_DYNAMIC,", "BOOLEAN, false,", DEFAULT, "with the default false"),
        (CONFIG, '"dynamic.bootstrap', '"dynamic-bootstrap', DEFAULT, "Nothing defines the key"),
        (CONFIG, "int fetch, int linger) {", "int fetch, int linger, long more) {", KEPT, "long)"),
        (CLIENT, 'logger.info("Updated', 'logger.error("Updated', QUIET, "at ERROR, and INFO is the most"),
        (CONFIG, f"public {SIX}", SIX, KEPT, "There is no public constructor"),
    ],
)
def test_a_broken_promise_is_refuted_and_says_where(path, old, new, question, words):
    found = answers_in(changed(path, old, new))
    assert found[question].blocks, found[question].detail
    assert words in found[question].detail


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (  # a wrapping condition instead of a guard
            f"if ({FLAG}requestManager == null) {{\n            return;\n        }}\n        VoterSet voters",
            "if (quorumConfig.dynamicBootstrapServersEnabled() && requestManager != null) refresh();\n    }\n\n"
            "    private void refresh() {\n        VoterSet voters",
        ),
        (  # the flag in a variable
            f"if ({FLAG}requestManager == null) {{",
            "final boolean on = quorumConfig.dynamicBootstrapServersEnabled();\n        if (on == false) return;\n"
            "        if (null == requestManager) {",
        ),
        (  # the flag behind a method
            f"    private void maybeUpdateBootstrapServers() {{\n        if ({FLAG}requestManager == null) {{",
            "    private boolean follows() {\n        return quorumConfig.dynamicBootstrapServersEnabled();\n    }\n\n"
            "    private void maybeUpdateBootstrapServers() {\n        if (requestManager == null || !follows()) {",
        ),
        (  # whatever goes wrong is swallowed
            UPDATES,
            "try { requestManager.updateBootstrapServers(voterNodes); } catch (RuntimeException e) { logger.warn(e); }",
        ),
        (  # update and refresh in one helper
            f"        partitionState.updateState();{REFRESH}\n        return offset;\n    }}",
            "        partitionState.updateState();\n        try {\n            return offset;\n        } finally {\n"
            "            this.maybeUpdateBootstrapServers();\n        }\n    }",
        ),
    ],
)
def test_another_way_to_write_the_same_gives_the_same_answers(old, new):
    assert shown(changed(CLIENT, old, new)) == SOUND


def test_a_refresh_after_reading_the_log_and_after_truncating_closes_the_gaps():
    better = FILES[CLIENT].decode()
    better = better.replace("\n        if (quorum.isOnlyVoter", f"{REFRESH}\n        if (quorum.isOnlyVoter")
    better = better.replace("Entries(truncationOffset);", f"Entries(truncationOffset);{REFRESH}")
    found = shown({**FILES, CLIENT: better.encode()})
    assert found["every-update-refreshes"] is Answer.HOLDS
    assert found["every-truncation-refreshes"] is Answer.HOLDS


def test_a_comparison_before_the_refresh_closes_the_gap_of_refreshing_for_ever():
    better = changed(
        CLIENT,
        UPDATES,
        "if (voterNodes.equals(lastNodes)) return;\n        requestManager.updateBootstrapServers(voterNodes);",
    )
    found = shown(better)
    assert found["refresh-only-on-change"] is Answer.HOLDS
    assert found["log-only-on-change"] is Answer.HOLDS
    assert found[REFRESHES] is Answer.HOLDS


def test_a_private_method_may_leave_the_refresh_to_all_its_callers():
    helper = "    private void changed() { partitionState.updateState(); }\n    private void maybeUpdate"
    content = FILES[CLIENT].decode().replace("    private void maybeUpdate", helper)
    content = content.replace(
        f"partitionState.updateState();{REFRESH}\n        return", f"changed();{REFRESH}\n        return"
    )
    assert "1 of 4 calls" in answers_in({**FILES, CLIENT: content.encode()})["every-update-refreshes"].detail
    forgetful = content.replace("    private void transition", "    void forgets() { changed(); }\n    void transition")
    assert "2 of 4 calls" in answers_in({**FILES, CLIENT: forgetful.encode()})["every-update-refreshes"].detail


@pytest.mark.parametrize(
    ("statement", "follows"),
    [
        ("a.change(); refresh();", True),
        ("refresh(); a.change();", False),
        ("a.change(); if (x()) return; refresh();", False),
        ("a.change(); if (x()) throw new E(); refresh();", True),
        ("a.change(); if (x()) { refresh(); } else { refresh(); }", True),
        ("a.change(); if (x()) refresh();", False),
        ("if (x()) { a.change(); } refresh();", True),
        ("if (a.change()) refresh();", False),
        ("a.change(); if (x() && refresh()) y();", False),
        ("a.change(); boolean b = x() | refresh();", True),
        ("while (x()) { a.change(); } refresh();", True),
        ("while (x()) { a.change(); break; } refresh();", True),
        ("a.change(); for (int i = 0; i < 3; i++) refresh();", False),
        ("a.change(); switch (x()) { case 1: refresh(); break; default: refresh(); }", True),
        ("a.change(); switch (x()) { case 1: refresh(); break; }", False),
        ("switch (x()) { case 1: a.change(); case 2: refresh(); break; }", True),
        ("switch (x()) { case 1: a.change(); case 2: x(); default: refresh(); }", True),
        ("switch (x()) { case 1: a.change(); return; case 2: refresh(); break; }", False),
        ("switch (x()) { case 1 -> a.change(); case 2 -> refresh(); default -> x(); }", False),
        ("switch (x()) { case 1: a.change(); break; } refresh();", True),
        ("try { a.change(); return; } finally { refresh(); }", True),
        ("try { a.change(); } finally { y(); }", False),
        ("try { y(); } catch (E e) { a.change(); } refresh();", True),
        ("try { refresh(); } catch (E e) { a.change(); }", False),
        ("synchronized (this) { a.change(); } refresh();", True),
        ("label: { a.change(); break label; } refresh();", True),
        ("a.change(); later(() -> refresh());", False),
        ("later(() -> { a.change(); refresh(); });", True),
        ("a.change(); // refresh();", False),
        ('a.change(); String s = "refresh();";', False),
        ("A other = a; other.change(); this.refresh();", True),
        ("B b = null; b.change();", None),
        ("String refresh = null; a.change();", False),
        ("new A() { void y() { a.change(); } }; refresh();", True),
        ("later(a::change); refresh();", True),
    ],
)
def test_what_follows_is_what_java_would_run(statement, follows):
    source = f"""
    class C {{ A a; void m() {{ {statement}
      }} private boolean refresh() {{ list = null; return true; }} List list; int x() {{ return 1; }} }}
    class A {{ boolean x; boolean change() {{ return x; }} }} class B {{ void change() {{ }} }}"""
    requested = Question("q", FollowedBy(calls=("A.change",), then="C.list"))
    expected = {True: Answer.HOLDS, False: Answer.DOES_NOT_HOLD, None: Answer.UNTESTED}[follows]
    found = answer(requested, graph_of(parse({"C.java": source.encode()})))
    assert found.answer is expected, found.detail


@pytest.mark.parametrize(
    ("body", "once"),
    [
        ("List l = list; l.size(); l.get(0);", True),
        ("list.size(); list.get(0);", False),
        ("if (x) { list.size(); } else { list.get(0); }", True),
        ("if (x) { list.size(); return; } list.get(0);", True),
        ("while (x) { list.get(0); }", False),
        ("while (list.size() > 0) { y(); }", False),
        ("for (Object o : list) { y(o); }", True),
        ("run(() -> list.get(0));", False),
        ("List list = null; list.size(); list.get(0);", True),
        ("switch (x) { case 1: list.size(); break; default: list.get(0); }", True),
        ("switch (x) { case 1: list.size(); default: list.get(0); }", False),
        ("this.list.size(); this.list.get(0);", False),
        ("list = null; list = null;", True),
    ],
)
def test_a_read_counts_as_often_as_it_may_be_done(body, once):
    source = f"class C {{ volatile List list; boolean x; void m() {{ {body} }} }}"
    found = answer(Question("q", ReadOnce("C.list")), graph_of(parse({"C.java": source.encode()})))
    assert found.answer is (Answer.HOLDS if once else Answer.DOES_NOT_HOLD), found.detail


def locked(fields, *methods):
    """Return the answer whether the list of a class is read once that is not volatile."""
    source = f"class C {{ private List list; {fields} C() {{ list = null; }} {' '.join(methods)} }}"
    return answer(Question("q", ReadOnce("C.list")), graph_of(parse({"C.java": source.encode()})))


WRITES = "synchronized void set(List l) { list = l; }"


@pytest.mark.parametrize(
    ("fields", "methods"),
    [
        ("", [WRITES, "synchronized int get() { return list.size() + this.list.get(0); }"]),
        ("", [WRITES, "List get() { synchronized (this) { return list; } }"]),
        ("", [WRITES, "synchronized void all() { for (int i = 0; i < list.size(); i++) y(list.get(i)); }"]),
        (
            "private final Object lock = new Object();",
            [
                "void set(List l) { synchronized (lock) { list = l; } }",
                "List get() { synchronized (this.lock) { return list; } }",
            ],
        ),
    ],
)
def test_a_list_that_is_used_under_one_lock_alone_need_not_be_volatile(fields, methods):
    found = locked(fields, *methods)
    assert found.answer is Answer.HOLDS, found.detail
    assert "under the lock C." in found.detail


def test_a_patch_that_guards_its_list_by_a_lock_keeps_the_promise_and_one_method_without_it_breaks_it():
    manager = FILES[MANAGER].decode().replace("private volatile List", "private List")
    for each in ("void update", "Optional<Node> find", "long backoff"):
        manager = manager.replace(f"public {each}", f"public synchronized {each}")
    found = answers_in({**FILES, MANAGER: manager.encode()})[ONCE]
    assert found.answer is Answer.HOLDS, found.detail
    bare = manager.replace("public synchronized long", "public long")
    assert answers_in({**FILES, MANAGER: bare.encode()})[ONCE].blocks


@pytest.mark.parametrize(
    ("fields", "methods"),
    [
        ("", ["void set(List l) { list = l; }", "List get() { return list; }"]),
        ("", [WRITES, "List get() { return list; }"]),  # one outside of the lock
        ("", [WRITES, "List get() { synchronized (this) { x(); } return list; }"]),
        ("", [WRITES, "void get() { synchronized (list) { y(list); } }"]),
        ("Object lock;", ["void set(List l) { synchronized (lock) { list = l; } }"]),  # another one from time to time
        ("final Object lock = 1;", [WRITES, "List get() { synchronized (lock) { return list; } }"]),  # two locks
        ("", [WRITES, "static synchronized List get(C c) { return c.list; }"]),
        ("", [WRITES, "synchronized List of(C other) { return other.list; }"]),
        ("", [WRITES, "synchronized void later() { run(() -> y(list)); }"]),
        (
            "",
            [
                WRITES,
                "void later() { run(new Runnable() { public void run() { synchronized (this) { y(list); } } }); }",
            ],
        ),
        (
            "",
            [WRITES, "void get() { synchronized (this) { x(list.size()); } synchronized (this) { y(list.get(0)); } }"],
        ),
        ("", [WRITES, "void all() { while (x) { synchronized (this) { y(list.get(0)); } } }"]),
    ],
)
def test_a_list_without_one_lock_over_each_use_is_not_read_once(fields, methods):
    found = locked(fields, *methods)
    assert found.answer is Answer.DOES_NOT_HOLD, found.detail


def tokens_of(content):
    """Return the tokens of Java source without comments; a text literal is one."""

    def walk(node):
        if node.type.endswith("comment"):
            return
        if not node.children or node.type == "string_literal":
            yield node.text.decode()
        else:
            for child in node.children:
                yield from walk(child)

    return list(walk(Parser(Language(tree_sitter_java.language())).parse(content).root_node))


TOKENS = {path: tokens_of(content) for path, content in FILES.items()}
LOCALS = ("servers", "startIndex", "candidate", "each", "newBootstrapServers", "voters", "voterNodes", "voterId")
BETWEEN = (
    " ",
    "\n",
    "\n\n\t",
    " /* maybeUpdateBootstrapServers(); */ ",
    " // partitionState.updateState();\n",
    "\n// if (!quorumConfig.dynamicBootstrapServersEnabled()) return;\n",
    " /** bootstrapServers = null; \n * requestManager.updateBootstrapServers(x); */\n",
)


@given(st.randoms(use_true_random=False))
def test_neither_layout_nor_comments_nor_names_of_variables_change_an_answer(random):
    names = {name: f"{name}{random.randrange(100)}x" for name in LOCALS}
    files = {
        path: "".join(f"{names.get(token, token)}{random.choice(BETWEEN)}" for token in tokens).encode()
        for path, tokens in TOKENS.items()
    }
    assert shown(files) == SOUND


@given(st.sampled_from(sorted(FILES)), st.integers(0, 3000), st.binary(min_size=1, max_size=20))
def test_damaged_sources_end_in_answers_and_never_in_an_error(path, at, junk):
    content = FILES[path]
    answers_in({**FILES, path: content[:at] + junk + content[at:]})


@pytest.mark.parametrize(
    "content",
    [b"not java {{{", b"\xff\xfe\x00" * 50, b"class RequestManager { void m( }", None],
)
def test_a_file_that_is_no_java_leaves_what_it_is_needed_for_untested(content):
    found = answers_in({**FILES, MANAGER: content})
    assert found[ONCE].answer is Answer.UNTESTED
    assert "RequestManager.java" in found[ONCE].detail
    assert Answer.HOLDS not in {each.answer for each in found.values()}


@pytest.mark.parametrize("deep", ["(" * 20_000 + "1" + ")" * 20_000, "x(" * 5000 + ")" * 5000, "!" * 20_000 + "x"])
def test_endless_nesting_is_no_traceback(deep):
    source = f"class Deep {{ void m() {{ Object o = {deep}; }} }}".encode()
    found = answers_in({**FILES, f"{TOP}/Deep.java": source})
    assert found[DEFAULT].answer is Answer.UNTESTED
    assert "nested too deeply" in found[DEFAULT].detail


def test_a_condition_of_thousands_of_parts_is_no_traceback():
    source = f"class Deep {{ boolean m() {{ return {' && '.join(['m()'] * 5000)}; }} }}".encode()
    assert shown({**FILES, f"{TOP}/Deep.java": source})[DEFAULT] is Answer.UNTESTED


def test_conditions_that_are_made_of_each_other_are_looked_at_once():
    doubled = " ".join(f"boolean b{n + 1} = b{n} && b{n};" for n in range(60))
    source = f"class Doubled {{ void m(boolean b0) {{ {doubled} if (b60) m(b60); }} }}".encode()
    assert shown({**FILES, f"{TOP}/Doubled.java": source}) == SOUND


@pytest.mark.parametrize(
    "begins",
    [
        "KafkaRaftClient(Listener l) { l.onChange(() -> requestManager.updateBootstrapServers(null)); }",
        "private final Runnable refresh = () -> requestManager.updateBootstrapServers(null);",
    ],
)
def test_what_a_lambda_of_a_constructor_does_is_done_by_somebody(begins):
    method = "private void maybeUpdateBootstrapServers"
    found = answers_in(changed(CLIENT, method, f"{begins} {method}"))
    assert found[GUARDED].answer is Answer.DOES_NOT_HOLD


def test_a_switch_of_thousands_of_cases_is_read():
    for ending in ("break;", ""):
        cases = " ".join(f"case {number}: m(); {ending}" for number in range(5000))
        source = f"class Wide {{ void m() {{ switch (1) {{ {cases} }} }} }}".encode()
        assert shown({**FILES, f"{TOP}/Wide.java": source}) == SOUND


def test_what_a_getter_returns_was_read_there():
    source = "class C { volatile List list; List all() { return list; } void m() { all().get(all().size() - 1); } }"
    found = answer(Question("q", ReadOnce("C.list")), graph_of(parse({"C.java": source.encode()})))
    assert found.answer is Answer.DOES_NOT_HOLD, found.detail


def test_constants_that_grow_without_end_or_go_in_circles_are_left_alone():
    grown = " ".join(f"static final String S{n} = S{n + 1} + S{n + 1};" for n in range(40))
    source = (
        f'class Grown {{ {grown} static final String S40 = "x"; void m() {{ m(S0, S0); }} static final String C = C; }}'
    )
    assert shown({**FILES, f"{TOP}/Grown.java": source.encode()}) == SOUND


def test_a_long_sum_of_texts_is_read():
    total = " + ".join(['"a"'] * 5000)
    source = f"class Long {{ static final String S = {total}; }}".encode()
    assert shown({**FILES, f"{TOP}/Long.java": source}) == SOUND


def test_a_class_that_is_not_there_leaves_its_questions_untested():
    found = answers_in({path: content for path, content in FILES.items() if path != CONFIG})
    assert found[KEPT].answer is Answer.UNTESTED
    assert "The sources have no class QuorumConfig" in found[KEPT].detail


def test_two_classes_of_one_name_are_not_mistaken_for_each_other():
    twin = {**FILES, f"{TOP}/internals/RequestManager.java": b"class RequestManager { volatile int bootstrapServers; }"}
    assert shown(twin)[ONCE] is Answer.UNTESTED


def test_a_method_that_is_gone_leaves_its_promise_untested():
    found = answers_in(changed(CLIENT, "appendAsLeader", "addAsLeader", count=99))[REFRESHES]
    assert found.answer is Answer.UNTESTED
    assert "KafkaRaftClient.appendAsLeader calls" in found.detail


def test_the_tree_of_a_checkout_is_read_without_its_links(tmp_path):
    top = tmp_path / TOP
    top.mkdir(parents=True)
    (top / "A.java").write_text("class A { }")
    (top / "Link.java").symlink_to("/dev/zero")
    (top / "B.txt").write_text("class B { }")
    assert list(read_sources(tmp_path, "raft").classes) == ["A"]
    assert audit(CLAIMS, PATCHED) == tuple(answers_in(FILES).values())


def test_a_giant_file_is_left_unread_and_a_giant_tree_is_refused(tmp_path):
    top = tmp_path / TOP
    top.mkdir(parents=True)
    with (top / "KafkaRaftClient.java").open("wb") as stream:
        stream.truncate(2 * 2**20)
    found = audit(CLAIMS, tmp_path)[0]
    assert found.answer is Answer.UNTESTED
    assert "KafkaRaftClient.java: it cannot be read, or is longer than" in found.detail
    with (top / "Giant.java").open("wb") as stream:
        stream.truncate(100 * 2**20)
    with pytest.raises(HarnessError, match="No module of Kafka is as large"):
        audit(CLAIMS, tmp_path)


def test_a_folder_that_is_no_checkout_is_reported(tmp_path):
    with pytest.raises(HarnessError, match="has no folder raft/src/main/java"):
        audit(CLAIMS, tmp_path)


def test_without_sources_and_jar_every_question_is_untested():
    found = audit(CLAIMS, None)
    assert {each.answer for each in found} == {Answer.UNTESTED}
    assert {each.detail for each in found} == {"There are no sources."}
    assert audit(replace(CLAIMS, questions=()), None) == ()


def test_nothing_read_is_nothing_known():
    graph = graph_of(Code())
    assert {answer(question, graph).answer for question in CLAIMS.questions} == {Answer.UNTESTED, Answer.DOES_NOT_HOLD}


THREAD = Question("thread", OneThread("RequestManager", ("KafkaRaftClient.poll", "KafkaRaftClient.initialize")))


def in_raft(**classes):
    """Answer which thread calls the request manager in these classes, given by their bodies."""
    manager = {"RequestManager": "void onSent() { } int ready() { return 1; }"}
    files = {f"{TOP}/{name}.java": _class(name, body) for name, body in {**manager, **classes}.items()}
    return answer(THREAD, graph_of(parse(files)))


def _class(name, body):
    kind = "interface" if name == "Sender" else "class"
    implements = " implements Sender" if name == "DefaultSender" else ""
    return f"package org.apache.kafka.raft; public {kind} {name}{implements} {{ {body} }}".encode()


POLL = "private RequestManager manager; public void poll() { work(); } private void work() { manager.onSent(); }"
INITIALIZE = "public void initialize() { manager.ready(); }"


def test_calls_that_all_come_from_the_entries_are_of_one_thread():
    found = in_raft(KafkaRaftClient=f"{POLL} {INITIALIZE}")
    assert found.answer is Answer.HOLDS
    assert found.detail.startswith(
        "Every call of RequestManager comes by way of KafkaRaftClient.poll or KafkaRaftClient.initialize: "
        "KafkaRaftClient.work (KafkaRaftClient.java:1)"
    )


def test_who_calls_the_entry_does_not_matter():
    found = in_raft(
        KafkaRaftClient=f"{POLL} {INITIALIZE}", Driver="KafkaRaftClient client; public void doWork() { client.poll(); }"
    )
    assert found.answer is Answer.HOLDS


@pytest.mark.parametrize(
    "other",
    [
        "public void handle() { manager.onSent(); }",
        "public void handle() { onMetric(); } private void onMetric() { manager.ready(); }",
        "public void handle() { later(() -> manager.onSent()); } private void later(Runnable work) { }",
        "public void handle() { again(1); } private void again(int n) { manager.onSent(); if (n > 0) again(n - 1); }",
        "public void handle() { manager.onSent(); handle(); }",
    ],
)
def test_a_call_by_another_way_is_named_with_where_that_begins(other):
    found = in_raft(KafkaRaftClient=f"{POLL} {INITIALIZE} {other}")
    assert found.answer is Answer.DOES_NOT_HOLD
    assert found.detail == "RequestManager is called by way of KafkaRaftClient.handle (KafkaRaftClient.java:1) as well."


SENDER = "void send(int request);"
DEFAULT_SENDER = "private RequestManager manager; public void send(int request) { manager.onSent(); }"


def test_a_call_by_way_of_an_interface_is_followed_to_who_calls_that():
    client = f"{INITIALIZE} RequestManager manager; Sender sender; public void poll() {{ sender.send(1); }}"
    assert in_raft(KafkaRaftClient=client, Sender=SENDER, DefaultSender=DEFAULT_SENDER).answer is Answer.HOLDS
    bad = client.replace("poll", "handle")
    found = in_raft(KafkaRaftClient=f"{bad} public void poll() {{ }}", Sender=SENDER, DefaultSender=DEFAULT_SENDER)
    assert found.answer is Answer.DOES_NOT_HOLD
    assert "KafkaRaftClient.handle" in found.detail


def test_methods_that_call_each_other_and_nobody_else_does_begin_a_way():
    circle = "public void one() { two(); manager.onSent(); } public void two() { one(); }"
    found = in_raft(KafkaRaftClient=f"{POLL} {INITIALIZE} {circle}")
    assert found.answer is Answer.DOES_NOT_HOLD
    assert "KafkaRaftClient.one" in found.detail


def test_a_class_that_nobody_calls_leaves_the_question_open():
    assert in_raft(KafkaRaftClient="public void poll() { } public void initialize() { }").answer is Answer.UNTESTED
