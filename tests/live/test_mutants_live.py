"""Jars that are wrong on purpose, for real: every patch fits and compiles, and live clusters notice one."""

from pathlib import Path

import git
import pytest

from harness.building.builders.ecj import ecj_of
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import Series, apply_series, load_patch
from harness.model.detection import Part
from harness.model.request import Request
from harness.stages.growing import load_growing
from harness.stages.mutant_folder import load_mutants
from harness.stages.mutants import Workshop, detect
from harness.toolbox.lockfile import Purpose

pytestmark = pytest.mark.live

VERSION = "3.9.1"
MUTANTS = Path(__file__).parents[1] / "mutants"
STOCK = sorted(path.stem for path in (MUTANTS / "stock").glob("*.patch"))
# A change of where mutants lie, or of how they are compiled, shows in any of them: every ninth is in the cut.
IN_THE_CUT = STOCK[::9]
GROWING = load_growing(MUTANTS / "growing")


@pytest.fixture(scope="module")
def checkout(toolbox, tmp_path_factory):
    """Return the released sources, laid out once."""
    jar = toolbox.downloads.fetch(read_lock(VERSION).one(Purpose.SOURCES))
    return MavenSources(VERSION, jar).checkout(tmp_path_factory.mktemp("sources") / "tree")


@pytest.fixture
def compiled(checkout, toolbox, kafka, tmp_path):
    """Return a function that compiles the files that a patch changes, and takes the patch back afterwards."""
    repository = git.Repo(checkout.path)

    def compile_patched(patch):
        apply_series(checkout, Series("mutant", VERSION, (patch,)))
        changed = repository.git.diff("--name-only", checkout.commit).splitlines()
        jars = (kafka.raft_jar, *kafka.others)
        return ecj_of(toolbox).compile(checkout.path, changed, jars, tmp_path / "classes", 8)

    yield compile_patched
    repository.git.reset("--hard", "--quiet", checkout.commit)


@pytest.mark.parametrize(
    "name", [each if each in IN_THE_CUT else pytest.param(each, marks=pytest.mark.whole) for each in STOCK]
)
def test_a_mutant_of_stock_fits_and_compiles(compiled, name):
    made = compiled(load_patch(MUTANTS / "stock", f"{name}.patch"))
    assert made.succeeded, made.output


@pytest.mark.parametrize("growing", GROWING, ids=lambda growing: growing.kind)
def test_a_planted_defect_fits_and_compiles_at_its_smallest_and_at_its_largest(compiled, growing, tmp_path, checkout):
    for size in (growing.sizes[0], growing.sizes[-1]):
        made = compiled(growing.write_patch(size, tmp_path))
        assert made.succeeded, made.output
        git.Repo(checkout.path).git.reset("--hard", "--quiet", checkout.commit)


@pytest.mark.whole
@pytest.mark.clusters
def test_a_node_that_sigterm_does_not_end_is_noticed_and_the_table_is_not_made_twice(toolbox, quiet, tmp_path):
    read = load_mutants(MUTANTS / "stock", ["shutdown-hook-never-ends"])
    workshop = Workshop(tmp_path, read.ground, Request(coverage=False, scenarios=("turn1",)), toolbox, quiet)
    (found,) = detect(read, workshop, tuple(Part))
    assert (found.settled, found.as_expected) == (True, True)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("rows/*/runs/**/result.json")}
    assert detect(read, workshop, tuple(Part)) == (found,)
    assert {path: path.stat().st_mtime_ns for path in before} == before
