"""The picture of the packages in docs/ is drawn from the code, and is that of today's code."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from draw_packages import PICTURE, CircleError, drawn, floors, packages, reduced  # noqa: E402

CAPTIONS, GRAPH = packages(ROOT)


def package(root, name, text):
    folder = root / "harness" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(f'"""What {name} is for.\n\nMore."""\n{text}')


def test_the_picture_is_that_of_todays_code():
    assert PICTURE.read_text("utf-8") == drawn(CAPTIONS, GRAPH), "write it anew: python docs/draw_packages.py"


def test_every_arrow_between_packages_runs_downwards():
    floor = floors(reduced(GRAPH))
    assert [(user, used) for user, uses in GRAPH.items() for used in uses if floor[user] <= floor[used]] == []


def test_a_box_stands_for_each_package_and_an_arrow_for_each_import_that_no_other_implies():
    picture, arrows = PICTURE.read_text("utf-8"), sum(map(len, reduced(GRAPH).values()))
    assert set(re.findall('class="name"[^>]*>([^<]+)<', picture)) == GRAPH.keys()
    assert picture.count("marker-end") == arrows


def test_packages_that_import_each_other_are_refused_by_name():
    circle = {"one": frozenset({"two"}), "two": frozenset({"one"}), "ground": frozenset()}
    with pytest.raises(CircleError, match="one, two"):
        reduced(circle)


def test_an_arrow_that_a_longer_way_implies_is_left_out():
    graph = {"top": frozenset({"middle", "low"}), "middle": frozenset({"low"}), "low": frozenset()}
    assert reduced(graph)["top"] == {"middle"}


def test_imports_count_wherever_they_stand(tmp_path):
    package(tmp_path, "low", "")
    package(tmp_path, "side", "from harness import low")
    package(tmp_path, "late", "def f():\n    import harness.low.thing")
    package(tmp_path, "top", "from harness.side.a import b\nfrom harness import __version__")
    captions, graph = packages(tmp_path)
    assert graph == {"low": set(), "side": {"low"}, "late": {"low"}, "top": {"side"}}
    assert captions["low"] == "What low is for."


def test_a_package_stands_just_below_its_only_user_when_it_could_stand_lower():
    graph = {"top": frozenset({"a", "judge"}), "a": frozenset({"b"}), "b": frozenset({"low"})}
    graph |= {"judge": frozenset({"low"}), "low": frozenset()}
    assert floors(graph) == {"top": 3, "a": 2, "judge": 2, "b": 1, "low": 0}


def test_the_page_about_the_architecture_has_a_line_for_every_package():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert {name for name in GRAPH if f"| `{name}` |" not in page} == set()


def test_the_page_about_the_architecture_names_what_is_there():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = re.findall(r"`([\w/]+\.py):(\w+)`", page)
    assert len(named) > 40
    assert [f"{path}:{name}" for path, name in named if name not in defined_in(ROOT / "harness" / path)] == []


def defined_in(path):
    """Return the names that a module defines at its top."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node]
        found |= {getattr(each, "name", getattr(each, "id", "")) for each in targets}
    return found
