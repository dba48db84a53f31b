"""Mutants of the patch series: jars that are wrong on purpose, and which stage catches each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.base.text import cut
from harness.building.raft_builds import CompileError
from harness.judge.reasons import rests_on
from harness.kafka.patching import Patch, load_patch
from harness.model.proof import Proof
from harness.model.request import Request
from harness.model.runs import Verdict
from harness.rundir.directory import RunDirectory
from harness.stages import judge as judge_stage
from harness.stages import run as run_stage
from harness.stages.build import build
from harness.stages.prove import prove
from harness.stages.verify import compare_logs
from harness.toolbox.toolbox import Toolbox

_SURVIVORS = "survivors.toml"
_MOST_DETAIL = 200


@dataclass(frozen=True, slots=True)
class Detection:
    """What became of one mutant; `caught` pairs a stage with what it said, in the order of the stages.

    `excuse` is the written reason why it may survive, `undecided` why it could not be tested; both mostly empty.
    """

    name: str
    does: str
    caught: tuple[tuple[str, str], ...]
    excuse: str = ""
    undecided: str = ""

    @property
    def settled(self) -> bool:
        """Whether it is caught, or survives for a written reason; an excuse for a caught one is out of date."""
        return not self.undecided and bool(self.caught) != bool(self.excuse)


def detect(folder: Path, request: Request, out: Path, toolbox: Toolbox, reporter: Reporter) -> tuple[Detection, ...]:
    """Build and judge every mutant of a folder, write mutants.json and mutants.md into `out`.

    Live clusters run a mutant only when nothing before them has caught it. Raises HarnessError for a
    folder without mutants, for an excuse of a mutant that is not there, and when the series itself is held back:
    then every mutant would look caught.
    """
    mutants = load_mutants(folder)
    excuses = load_excuses(folder, [patch.path.stem for patch in mutants])
    _see_that_the_series_passes(request, out / "series", toolbox, reporter)
    found = []
    for number, patch in enumerate(mutants, 1):
        reporter.stage(f"mutant {number} of {len(mutants)}: {patch.subject}")
        name = patch.path.stem
        about = Detection(name, patch.subject, (), excuses.get(name, ""))
        found.append(_detect(about, replace(request, patches=(patch.path,)), out / name, toolbox, reporter))
        reporter.report(_sentence(found[-1]))
    write_text(out / "mutants.json", to_json(found))
    write_text(out / "mutants.md", table(found))
    return tuple(found)


def load_mutants(folder: Path) -> list[Patch]:
    """Return a folder's patches by name. Raises HarnessError when there is none."""
    names = sorted(path.name for path in folder.glob("*.patch"))
    if not names:
        raise HarnessError(f"{folder} holds no *.patch.", "Name a folder of one-line patches on top of the series.")
    return [load_patch(folder, name) for name in names]


def load_excuses(folder: Path, mutants: Sequence[str]) -> Mapping[str, str]:
    """Return why some mutants may survive, from survivors.toml if there is one. Raises HarnessError."""
    path = folder / _SURVIVORS
    try:
        excuses = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HarnessError(f"{path} cannot be read: {error}.") from error
    for name, excuse in excuses.items():
        if name not in mutants or not isinstance(excuse, str):
            raise HarnessError(f"{path}: {name} is no mutant with a sentence why it may survive.")
    return excuses


def table(found: Sequence[Detection]) -> str:
    """Return the detection table as Markdown."""
    rows = [f"| {each.name} | {_cell(each.does)} | {_stage(each)} | {_detail_cell(each)} |" for each in found]
    return "\n".join(("| mutant | what is wrong | caught by | what was said |", "|---|---|---|---|", *rows)) + "\n"


def _see_that_the_series_passes(request: Request, run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> None:
    reporter.stage("the series without a mutant, which nothing may catch")
    RunDirectory(run_dir).request.write(request)
    build(run_dir, toolbox, reporter)
    caught = catching(prove(run_dir, toolbox, reporter))
    if caught:
        raise HarnessError(f"The series itself is caught by {caught[0][0]}: {caught[0][1]}.", "Fix that first.")


def _detect(about: Detection, request: Request, run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> Detection:
    RunDirectory(run_dir).request.write(request)
    try:
        build(run_dir, toolbox, reporter)
    except CompileError as error:
        return replace(about, caught=(("build", error.message),))
    caught = catching(prove(run_dir, toolbox, reporter))
    return replace(about, caught=caught) if caught else _by_scenarios(about, run_dir, toolbox, reporter)


def catching(proof: Proof) -> tuple[tuple[str, str], ...]:
    """Return the parts of a proof that block, each with the first thing it said; pure."""
    stages = (
        ("drop-in", [f"{d.rule}: {d.detail}" for d in proof.differences if d.blocks]),
        ("source", [f"{a.question}: {a.detail}" for a in proof.audit if a.blocks]),
        ("tests", [f"{f.class_name}.{f.name}" for f in proof.tests.failed if f.blocks]),
    )
    return tuple((stage, detail[0]) for stage, detail in stages if detail)


def _by_scenarios(about: Detection, run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> Detection:
    run_stage.run(run_dir, toolbox, reporter)
    compare_logs(run_dir, toolbox, reporter)  # without which the judge has a gap
    judge_stage.judge(run_dir, reporter)
    record = RunDirectory(run_dir).verdict.read()
    return with_verdict(about, record.verdict, rests_on(record.verdict, record.reasons)[0])


def with_verdict(about: Detection, verdict: Verdict, reason: str) -> Detection:
    """Return what live clusters say of a mutant: only SHIP lets it survive; pure."""
    match verdict:
        case Verdict.HOLD:
            return replace(about, caught=(("scenarios", reason),))
        case Verdict.INCONCLUSIVE:
            return replace(about, undecided=reason)
        case Verdict.SHIP:
            return about


def _sentence(each: Detection) -> str:
    return f"{each.name}: caught by {_stage(each)}" if each.caught else f"{each.name}: {_stage(each)}"


def _stage(each: Detection) -> str:
    if each.undecided:
        return "**undecided**"
    return ", ".join(stage for stage, _ in each.caught) or "**nothing**"


def _detail_cell(each: Detection) -> str:
    detail = each.undecided or (each.caught[0][1] if each.caught else each.excuse)
    return _cell(cut(" ".join(detail.split()), _MOST_DETAIL))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
