"""Classes that were compiled against others than they meet: what the JVM would refuse is told without running it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.building.builders.ecj import Ecj, ecj_of
from harness.building.jars import classes_in, write_jar
from harness.proof.bytecode import BytecodeTools, prepare_bytecode, read_classes, read_references
from harness.proof.dropin.implementing import Loader, check_implementing
from harness.proof.dropin.loading import check_loading, prepare_loader
from harness.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.live

OWNER = """package a;
public class Owner {
    public static int shared;
    public int own;
    public int size() { return 1; }
    public static int count() { return 2; }
}"""
DOER = "package a; public interface Doer { int act(); }"
USER = """package b;
public class User {
    int use(a.Owner owner, a.Doer doer) {
        a.Owner.shared = owner.own;
        return owner.size() + a.Owner.count() + doer.act();
    }
    Object make() { return new a.Owner(); }
    java.util.function.Supplier<Integer> later() { return a.Owner::count; }
}"""
STALE = [
    ("public int size()", "private int size()", "a.Owner.size()I", "it is private"),
    ("public int size()", "int size()", "a.Owner.size()I", "it is for its package alone"),
    ("public int size()", "protected int size()", "a.Owner.size()I", "it is protected"),
    ("public int size()", "public static int size()", "a.Owner.size()I", "it is static, not an object's"),
    ("public static int count()", "public int count()", "a.Owner.count()I", "it is an object's, not static"),
    ("public int own", "public static int own", "a.Owner.ownI", "it is static, not an object's"),
    ("int shared", "final int shared = 3", "a.Owner.sharedI", "it is final"),
    ("public class Owner", "public abstract class Owner", "a.Owner.", "it is abstract"),
    ("public class Owner", "class Owner", "a.Owner.", "its class is for its package alone"),
    (
        "public interface Doer { int",
        "public abstract class Doer { public abstract int",
        "a.Doer.act()I",
        "a class, not an",
    ),
]
SOUND = """package b;
public class Sound extends a.Parent {
    private int hidden = 1;
    private static int counted(int value) { return value; }
    class Inner { int get() { return hidden + counted(inherited()); } }
    int calls(Runnable task, int[] numbers) { return task.hashCode() + numbers.clone().length + new Inner().get(); }
    Runnable later() { return () -> counted(hidden); }
    @Override protected Object clone() throws CloneNotSupportedException { return super.clone(); }
    Comparable<String> text() { return String.valueOf(1)::compareTo; }
}"""
PARENT = """package a;
public class Parent implements Named { protected int inherited() { return LIMIT + named(); } }
interface Named { int LIMIT = 5; default int named() { return 1; } }"""


@pytest.fixture(scope="module")
def ecj(toolbox: Toolbox) -> Ecj:
    return ecj_of(toolbox)


@pytest.fixture(scope="module")
def bytecode(ecj: Ecj, toolbox: Toolbox) -> BytecodeTools:
    return prepare_bytecode(ecj, toolbox)


@pytest.fixture(scope="module")
def loader(ecj: Ecj, toolbox: Toolbox) -> Path:
    return prepare_loader(ecj, toolbox.cache)


def compiled(ecj: Ecj, folder: Path, texts: Mapping[str, str], target: int = 8) -> dict[str, bytes]:
    """Return the class files of sources by their name (`a/Owner`), as entries of a jar."""
    for name, text in texts.items():
        path = folder / "sources" / f"{name}.java"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    made = ecj.compile(folder / "sources", [f"{name}.java" for name in texts], (), folder / "made", target)
    assert made.succeeded, made.output
    return classes_in(folder / "made")


def jar_of(folder: Path, classes: Mapping[str, bytes], name: str = "a.jar") -> Path:
    write_jar(classes, folder / name)
    return folder / name


@pytest.fixture
def complaints(ecj, bytecode, loader, tmp_path):
    """Return a function that says of a jar of these classes what does not load or link."""

    def asked(classes: Mapping[str, bytes]) -> dict[str, str]:
        jar = jar_of(tmp_path, classes)
        found = check_loading(ecj.runtime, loader, jar, read_classes(bytecode, jar), ())
        assert {each.rule for each in found} <= {"reference-unresolved"}
        return {each.where: each.detail.rpartition(": ")[2] for each in found}

    return asked


@pytest.fixture(scope="module")
def stale(ecj, tmp_path_factory) -> dict[str, bytes]:
    return compiled(ecj, tmp_path_factory.mktemp("stale"), {"a/Owner": OWNER, "a/Doer": DOER, "b/User": USER})


@pytest.mark.parametrize(("old", "new", "where", "why"), STALE)
def test_a_stale_class_is_told_what_the_jvm_would_refuse_it(old, new, where, why, ecj, stale, complaints, tmp_path):
    changed = {name: text for name, text in (("a/Owner", OWNER), ("a/Doer", DOER)) if old in text}
    made = compiled(ecj, tmp_path, {name: text.replace(old, new) for name, text in changed.items()})
    assert why in complaints({**stale, **made})[where]


def test_classes_that_fit_each_other_have_no_complaint(stale, complaints):
    assert complaints(stale) == {}


@pytest.mark.parametrize("target", [8, 17])
def test_what_the_jvm_allows_is_no_complaint(target, ecj, complaints, tmp_path):
    assert complaints(compiled(ecj, tmp_path, {"b/Sound": SOUND, "a/Parent": PARENT}, target)) == {}


TYPES = {
    "a/Log": "package a; public interface Log { int read(); }",
    "a/Base": "package a; public abstract class Base implements Log { public int size() { return 1; } }",
}
THEIRS = {
    "b/Abstract": "package b; abstract class Abstract extends a.Base { }",
    "b/Kept": "package b; class Kept extends Abstract { public int read() { return 1; } public int end() { return 2;}}",
}
OWN = {"a/Own": "package a; class Own implements Log { public int read() { return 3; } }"}
GROWN = [
    ("a/Log", "int read();", "int read(); int more();", {"b.Kept", "a.Own"}, "a.Log.more()I"),
    ("a/Log", "int read();", "int read(); int end();", {"a.Own"}, "a.Log.end()I"),
    ("a/Base", "public int size() { return 1; }", "public abstract int size();", {"b.Kept"}, "a.Base.size()I"),
    ("a/Base", "{ public", "{ abstract int near(); public", {"b.Kept"}, "a.Base.near()I"),
    ("a/Base", "implements Log", "implements Log, Comparable<Log>", {"b.Kept"}, "java.lang.Comparable.compareTo"),
    ("a/Log", "int read();", "int read(); default int more() { return 4; }", set(), ""),
    ("a/Base", "{ public", "{ public abstract int end(); public", set(), ""),
    ("a/Base", "{ public", "{ public abstract int read(); public", set(), ""),
]


@pytest.fixture(scope="module")
def implemented(ecj, tmp_path_factory) -> dict[str, bytes]:
    return compiled(ecj, tmp_path_factory.mktemp("implemented"), {**TYPES, **THEIRS, **OWN})


@pytest.mark.parametrize(("name", "old", "new", "lacking", "member"), GROWN)
def test_a_class_that_lacks_a_new_abstract_method_is_told(
    name, old, new, lacking, member, ecj, bytecode, loader, implemented, tmp_path
):
    texts = {**TYPES, name: TYPES[name].replace(old, new)}
    assert texts != TYPES
    other = jar_of(tmp_path, {each: code for each, code in implemented.items() if each.startswith("b/")}, "other.jar")
    own = {each: code for each, code in implemented.items() if each.startswith("a/")}
    base, candidate = jar_of(tmp_path, own), jar_of(tmp_path, {**own, **compiled(ecj, tmp_path, texts)}, "new.jar")
    (references,) = read_references(bytecode, [other], ["a"])
    loads = Loader(ecj.runtime, loader, [other])
    classes = read_classes(bytecode, candidate)
    found = check_implementing(loads, bytecode, base, candidate, classes, {other: references})
    assert {each.rule for each in found} <= {"linkage-broken"}
    assert all(each.where.startswith(member) for each in found)
    named = " ".join(each.detail for each in found)
    assert {each for each in ("b.Kept", "a.Own") if f"{each} of " in named} == set(sorted(lacking)[:1])
    assert ("nor have 1 more" in named) == (len(lacking) > 1)


SEALED = {
    **TYPES,
    "a/Base": TYPES["a/Base"].replace("abstract", "abstract sealed").replace("Log {", "Log permits Own {"),
    "a/Own": "package a; final class Own extends Base { public int read() { return 3; } }",
}


def test_a_type_that_a_class_of_another_jar_may_not_extend_any_more_is_told(
    ecj, bytecode, loader, implemented, tmp_path
):
    """It links, by every name that it uses: only to load it shows that its type is sealed now."""
    other = jar_of(tmp_path, {each: code for each, code in implemented.items() if each.startswith("b/")}, "other.jar")
    own = {each: code for each, code in implemented.items() if each.startswith("a/")}
    base, candidate = jar_of(tmp_path, own), jar_of(tmp_path, compiled(ecj, tmp_path, SEALED, 17), "new.jar")
    (references,) = read_references(bytecode, [other], ["a"])
    loads = Loader(ecj.runtime, loader, [other])
    found = check_implementing(loads, bytecode, base, candidate, read_classes(bytecode, candidate), {other: references})
    assert [(each.rule, each.where) for each in found] == [("linkage-broken", "b.Kept")]
    assert "b.Kept of other.jar does not load any more: " in found[0].detail
    assert check_implementing(loads, bytecode, base, base, read_classes(bytecode, base), {other: references}) == ()
