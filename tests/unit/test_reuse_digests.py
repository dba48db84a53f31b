"""The digest of all that decides a result: whatever is changed is another one, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.files import write_bytes
from harness.cluster.install import Install
from harness.engine.planned_run import PlannedRun
from harness.kafka.release_lines import line_of
from harness.model.arms import Role
from harness.model.proof import ChangedMethod, TestScope
from harness.model.runs import RunKey
from harness.model.setup import NodeRuntime, Profile
from harness.proof.junit import OtherRelease
from harness.scenario.registry import load_all
from harness.stages import reuse_digests
from harness.stages.reuse_digests import (
    digest_of_proof,
    digest_of_reach,
    digest_of_record,
    digest_of_runs,
    surroundings,
)
from harness.toolbox.java import JavaRuntime

LINE, AROUND = line_of("3.9.1"), {"code": "1", "host: cpus": "2"}
SCENARIOS = load_all()
TOPOLOGY = SCENARIOS["turn1"].topology
OTHER_TOPOLOGY = next(
    each.topology
    for each in SCENARIOS.values()
    if each.topology != TOPOLOGY and len(each.topology.observer_ids) == len(TOPOLOGY.observer_ids)
)
PARTS = SimpleNamespace(profile=Profile.FAST, line=LINE)
BASE = PlannedRun(
    RunKey("turn1", "stock", 1),
    SCENARIOS["turn1"],
    Role.BASE,
    PARTS,
    Install("stock", Path("x.jar"), "a" * 64, "absent", beside={"clients.jar": "c" * 64}),
    {"log.retention.ms": "1000"},
    "a.flag",
    "21.0.8 (bundled)",
)
ON = replace(
    BASE, key=RunKey("turn1", "jar", 1), role=Role.ON, install=replace(BASE.install, name="jar", sha256="b" * 64)
)
SLOWER = replace(LINE, timeouts={**LINE.timeouts, "controller.quorum.fetch.timeout.ms": 2001})


@pytest.mark.parametrize(
    "change",
    [
        lambda cell: replace(cell, scenario=SCENARIOS["turn2"]),
        lambda cell: replace(cell, scenario=replace(cell.scenario, budget=1.0)),
        lambda cell: replace(cell, scenario=replace(cell.scenario, topology=OTHER_TOPOLOGY)),
        lambda cell: replace(cell, overlay={"log.retention.ms": "1001"}),
        lambda cell: replace(cell, overlay={}),
        lambda cell: replace(cell, soak=20.0),
        lambda cell: replace(cell, java="21.0.9 (bundled)"),
        lambda cell: replace(cell, flag_key="another.flag"),
        lambda cell: replace(cell, runtime=NodeRuntime.CONTAINER),
        lambda cell: replace(cell, role=Role.OFF),
        lambda cell: replace(cell, key=replace(cell.key, repeat=2)),
        lambda cell: replace(cell, node_parts=SimpleNamespace(profile=Profile.PRODUCTION, line=LINE)),
        lambda cell: replace(cell, node_parts=SimpleNamespace(profile=Profile.FAST, line=SLOWER)),
        lambda cell: replace(cell, install=replace(cell.install, sha256="d" * 64)),
        lambda cell: replace(cell, install=replace(cell.install, flag="true")),
        lambda cell: replace(cell, install=replace(cell.install, settings={"a.flag": "true"})),
        lambda cell: replace(cell, install=replace(cell.install, beside={"clients.jar": "d" * 64})),
        lambda cell: replace(cell, install=replace(cell.install, beside={"renamed.jar": "c" * 64})),
        lambda cell: replace(cell, others={"another": replace(cell.install, sha256="e" * 64)}),
    ],
)
@pytest.mark.parametrize("of_base", [True, False], ids=["base", "candidate"])
def test_whatever_decides_a_run_on_any_arm_is_part_of_the_digest(
    change: Callable[[PlannedRun], PlannedRun], of_base: bool
) -> None:
    """That of the candidate too: only beside this very one were the costs of base's runs judged."""
    changed = [change(BASE), ON] if of_base else [BASE, change(ON)]
    assert digest_of_runs(changed, AROUND) != digest_of_runs([BASE, ON], AROUND)


def test_one_run_less_and_one_more_are_another_digest_and_the_same_are_the_same() -> None:
    again = replace(BASE, key=replace(BASE.key, repeat=2))
    found = {digest_of_runs(cells, AROUND) for cells in ([BASE], [BASE, ON], [BASE, ON, again], [ON, BASE])}
    assert len(found) == 4
    assert digest_of_runs([replace(BASE), replace(ON)], dict(AROUND)) == digest_of_runs([BASE, ON], AROUND)


def test_where_the_jar_lies_decides_nothing() -> None:
    elsewhere = replace(BASE, install=replace(BASE.install, jar=Path("/elsewhere/y.jar")))
    assert digest_of_runs([elsewhere, ON], AROUND) == digest_of_runs([BASE, ON], AROUND)


WORDS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4)


@given(WORDS, WORDS)
def test_other_surroundings_are_another_digest(one: dict[str, str], other: dict[str, str]) -> None:
    assert (digest_of_runs([BASE], one) == digest_of_runs([BASE], other)) is (one == other)


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_lists_that_are_cut_elsewhere_are_others(one: list[str], other: list[str]) -> None:
    assert (digest_of_record(one) == digest_of_record(other)) is (one == other)


@pytest.fixture
def java(tmp_path: Path) -> JavaRuntime:
    write_bytes(tmp_path / "java/release", b'JAVA_VERSION="21.0.8"\n')
    write_bytes(tmp_path / "java/lib/server/libjvm.so", b"code")
    return JavaRuntime(tmp_path / "java", "21.0.8")


def test_the_host_the_java_the_harness_its_libraries_and_scenarios_of_ones_own_are_surroundings(
    java: JavaRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = write_bytes(tmp_path / "own/pause.py", b"1").parent
    host = {"cpus": "2"}

    def around() -> str:
        return digest_of_record(dict(surroundings(host, java, [own])))

    found = [around()]
    write_bytes(own / "out/run/server.log", b"what a run writes below")
    assert around() == found[0]
    host["cpus"] = "4"
    found.append(around())
    write_bytes(java.home / "lib/server/libjvm.so", b"patched")
    found.append(around())
    write_bytes(java.home / "release", b'JAVA_VERSION="21.0.8"\nIMPLEMENTOR="another"\n')
    found.append(around())
    write_bytes(own / "pause.py", b"2")
    found.append(around())
    monkeypatch.setattr(reuse_digests, "code_digest", lambda: "another")
    found.append(around())
    monkeypatch.setattr(reuse_digests, "libraries", lambda: "another")
    found.append(around())
    assert len({*found}) == 7


class Case:
    """Enough of what a proof is about for its digest."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.fields = {
            "jar": self.file("jar", b"jar"),
            "base_jar": self.file("base", b"base"),
            "before": None,
            "candidate": self.build(),
            "distribution": SimpleNamespace(others=()),
            "sources": None,
            "release": None,
            "built_series": None,
            "tests": (self.file("tests", b"tests"),),
            "other": None,
            "setup": SimpleNamespace(series="", claims=""),
            "scope": TestScope.RELATED,
            "line": LINE,
            "binding": True,
            "compilers": (SimpleNamespace(label="javac 17"), SimpleNamespace(label="ecj 3.45")),
        }

    def build(self, digest: str = "c", **fields: str) -> SimpleNamespace:
        usual = {"name": "patched", "builder": "javac"}
        return SimpleNamespace(kafka=SimpleNamespace(others={"clients.jar": digest}), **{**usual, **fields})

    def file(self, name: str, content: bytes) -> Path:
        return write_bytes(self.root / f"{name}.jar", content)

    def series(self, content: bytes) -> Path:
        return write_bytes(self.root / content.decode() / "tests/ATest.java", content).parents[1]

    def digest(self, around: str = "1", **fields: object) -> str:
        case = SimpleNamespace(**{**self.fields, **fields})
        return digest_of_proof(case, {"code": around})  # type: ignore[arg-type]


def test_whatever_decides_what_is_proved_of_a_jar_is_part_of_the_digest(tmp_path: Path) -> None:
    case = Case(tmp_path)
    nobody_knows = SimpleNamespace(kafka=SimpleNamespace(others={}), name="patched", builder="javac")
    unknown = {"candidate": nobody_knows, "distribution": SimpleNamespace(others=(case.file("clients", b"1"),))}
    claims = write_bytes(tmp_path / "claims.toml", b"flag = 1")
    others = [
        case.digest(jar=case.file("another", b"another")),
        case.digest(base_jar=case.file("another", b"another")),
        case.digest(before=case.file("another", b"another")),
        case.digest(candidate=case.build("d")),
        case.digest(candidate=case.build(builder="given")),
        case.digest(candidate=case.build(name="jar")),
        case.digest(**unknown),
        case.digest(sources=case.series(b"sources")),
        case.digest(release=SimpleNamespace(sources=case.file("sources", b"sources"))),
        case.digest(built_series=case.series(b"one")),
        case.digest(tests=(case.file("more", b"more"),)),
        case.digest(tests=()),
        case.digest(other=OtherRelease("3.9.2", (case.file("tests", b"tests"),))),
        case.digest(other=OtherRelease("3.9.3", (case.file("tests", b"tests"),))),
        case.digest(other="They cannot be run."),
        case.digest(setup=SimpleNamespace(series=str(case.series(b"one")), claims="")),
        case.digest(setup=SimpleNamespace(series=str(case.series(b"two")), claims="")),
        case.digest(setup=SimpleNamespace(series="", claims=str(claims))),
        case.digest(scope=TestScope.ALL),
        case.digest(line=SLOWER),
        case.digest(binding=False),
        case.digest(compilers=(SimpleNamespace(label="ecj 3.45"),)),
        case.digest(around="2"),
    ]
    assert len({case.digest(), *others}) == len(others) + 1
    assert case.digest() == Case(tmp_path).digest()
    case.file("clients", b"2")
    write_bytes(claims, b"flag = 2")
    changed = [case.digest(**unknown), case.digest(setup=SimpleNamespace(series="", claims=str(claims)))]
    assert not {*changed} & {*others}


def test_whatever_decides_which_lines_are_reached_is_part_of_the_digest(tmp_path: Path) -> None:
    jars = [write_bytes(tmp_path / name, name.encode()) for name in ("base.jar", "jar.jar")]
    tools = [write_bytes(tmp_path / name, name.encode()) for name in ("agent.jar", "reader.jar")]
    another = write_bytes(tmp_path / "another.jar", b"another")
    sources = write_bytes(tmp_path / "sources/a/A.java", b"class A {}").parents[1]
    series = write_bytes(tmp_path / "series/series", b"one.patch").parent
    method = ChangedMethod("a/A", "f", "()V")
    usual = ([ON], jars, sources, series, [method], tools, AROUND)

    def changed(place: int, value: object) -> str:
        return digest_of_reach(*usual[:place], value, *usual[place + 1 :])  # type: ignore[arg-type]

    found = [
        digest_of_reach(*usual),
        changed(0, [replace(ON, soak=20.0)]),
        changed(1, [jars[0], another]),
        changed(1, [another, jars[1]]),
        changed(2, tmp_path / "nowhere"),
        changed(3, None),
        changed(4, [replace(method, name="g")]),
        changed(4, []),
        changed(5, [another, tools[1]]),
        changed(6, {**AROUND, "code": "2"}),
    ]
    write_bytes(sources / "a/A.java", b"class A { }")
    found.append(digest_of_reach(*usual))
    write_bytes(series / "series", b"two.patch")
    found.append(digest_of_reach(*usual))
    assert len({*found}) == len(found)
    assert digest_of_reach(*usual) == found[-1]
