"""Prove the candidate's jar without a cluster: its differences from base, the tests, what its source says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.audit.claims_file import Chain
from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.base.progress import Reporter
from harness.base.text import visible
from harness.building.given import version_note
from harness.model.arms import Build, Role
from harness.model.declaration import Declaration
from harness.model.proof import AuditAnswer, ClaimChain, ClaimedTest, Difference, Proof, TestsProof
from harness.model.simulation import Simulation
from harness.proof.dropin import DropIn, prove_dropin
from harness.proof.proof_summary import (
    describe_answers,
    describe_differences,
    describe_simulation,
    describe_tests,
    headline,
)
from harness.rundir.directory import RunDirectory
from harness.stages.proof_case import ProofCase, proof_case
from harness.stages.proof_parts import audited, simulated, subject_of, tested, waived
from harness.stages.reuse_proof import keep_proof, take_proof
from harness.stages.rules_digest import code_digest
from harness.stages.tests_that_fit import fitted
from harness.stages.tests_weighed import needless, standing_of
from harness.stages.timing import timed
from harness.toolbox.toolbox import Toolbox

_MOST_BLOCKERS = 12


def prove(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> Proof:
    """Prove the candidate of a run directory and write proof/<build>/proof.json.

    Raises HarnessError when the jar cannot be judged at all, or what judges it cannot be had.
    """
    directory = RunDirectory(run_dir)
    base, candidate = base_and_candidate(directory.declaration.read())
    reporter.stage(f"proving {candidate.name} against {base.name}, without a cluster")
    with timed(directory, "prove"):
        case = proof_case(directory, base, candidate, toolbox, reporter)
        if known := proved_before(case, reporter):
            return write_proof(case, *known, reporter)
        found = compared(case)
        return write_proof(case, found, tested(case, found.dropin.changed, reporter), reporter)


def has_candidate(run_dir: Path) -> bool:
    """Return whether there is a base and something to prove against it; arms may have been narrowed to one."""
    declaration = RunDirectory(run_dir).declaration.read()
    return declaration.arm(Role.BASE) is not None and bool(declaration.candidate)


def print_proof(console: Console, proof: Proof, run_dir: Path) -> None:
    """Print the counts, everything that blocks, and where to read the rest."""
    summary = {
        "differences": describe_differences(proof),
        "tests": describe_tests(proof.tests),
        "source": describe_answers(proof.audit),
        **({"simulation": describe_simulation(proof.simulation)} if proof.simulation else {}),
    }
    for name, figures in summary.items():
        console.print(Text(f"  {name:<12} {figures}"))
    doubts = proof.simulation.doubts if proof.simulation else ()
    for note in filter(None, (*proof.notes, proof.tests.gap, proof.tests.missing, *doubts)):
        console.print(Text(f"  {visible(note)}", style="dim"))
    console.print(Text(f"\n{headline(proof)}", style=f"bold {_colour(proof)}"))
    for blocker in proof.blockers[:_MOST_BLOCKERS]:
        console.print(Text(f"  · {visible(blocker)}"))
    if len(proof.blockers) > _MOST_BLOCKERS:
        console.print(f"  … and {len(proof.blockers) - _MOST_BLOCKERS} more")
    console.print(f"\n{RunDirectory(run_dir).proof(proof.build).proof.path}")


def exit_code(proof: Proof) -> int:
    """Return the exit code of `harness prove`: 0 a sound drop-in, 1 it is none, 3 too little could be tested."""
    if proof.blockers:
        return 1
    doubtful = proof.simulation is not None and bool(proof.simulation.doubts)
    return 3 if proof.tests.missing or doubtful else 0


def _colour(proof: Proof) -> str:
    return ("green", "red", "", "yellow")[exit_code(proof)]


def base_and_candidate(declaration: Declaration) -> tuple[Build, Build]:
    """Return the two builds that a proof compares. Raises HarnessError where there is only one."""
    base = declaration.arm(Role.BASE)
    candidate = next((arm.build for arm in declaration.arms if arm.build.name == declaration.candidate), None)
    if base is None or candidate is None:
        raise HarnessError("There is no candidate beside base, so that there is nothing to prove.", "Leave out --arms.")
    return base.build, candidate


@dataclass(frozen=True, slots=True)
class Compared:
    """What is known of the jar before any test: its differences, the accepted ones marked, and the source's answers."""

    dropin: DropIn
    differences: tuple[Difference, ...]
    answers: tuple[AuditAnswer, ...]


def compared(case: ProofCase) -> Compared:
    """Compare the candidate's jar with base's, and put the claims' questions to its source. Raises HarnessError."""
    with ThreadPoolExecutor(1, thread_name_prefix="audit") as pool:
        answers = pool.submit(audited, case)
        found = prove_dropin(case.tools, case.base_jar, case.jar, subject_of(case))
        return Compared(found, waived(case, found), answers.result())


def proved_before(case: ProofCase, reporter: Reporter) -> tuple[Compared, TestsProof] | None:
    """Return what was proved of this very jar before, with the differences that somebody accepts by now; else None."""
    known = take_proof(case, reporter)
    if known is None:
        return None
    return Compared(known.dropin, waived(case, known.dropin), known.answers), known.tests


def write_proof(case: ProofCase, found: Compared, tests: TestsProof, reporter: Reporter) -> Proof:
    """Write and return the proof, after simulations where they were asked for; keep it for the very same jar."""
    keep_proof(case, found.dropin, found.answers, tests)
    proof = _proof(case, found, tests, simulated(case, reporter))
    folder = case.directory.proof(case.candidate.name)
    folder.proof.write(proof)
    write_text(folder.rules, code_digest())
    return proof


def _proof(case: ProofCase, found: Compared, tests: TestsProof, simulation: Simulation | None) -> Proof:
    return Proof(
        build=case.candidate.name,
        base=case.base.jar_sha256,
        candidate=case.candidate.jar_sha256,
        looked_at=found.dropin.looked_at,
        changed_methods=found.dropin.changed_methods,
        differences=found.differences,
        tests=fitted(tests, found.differences),
        audit=found.answers,
        notes=(
            *found.dropin.notes,
            *_not_binding(case),
            *needless(tests, case.claims.tests_changed),
            *filter(None, [version_note(case.jar, case.distribution.version)]),
        ),
        chains=tuple(_chain(chain, tests) for chain in case.claims.chains),
        kafka=case.candidate.kafka.version if case.before else "",
        simulation=simulation,
    )


def _not_binding(case: ProofCase) -> tuple[str, ...]:
    """Return what the proof asks only to show it."""
    if case.binding or not case.setup.series:
        return ()
    series = Path(case.setup.series).name
    return (
        f"the jar is not of the series {series}: its questions to the source and its tests are shown, not decisive",
    )


def _chain(chain: Chain, tests: TestsProof) -> ClaimChain:
    return ClaimChain(
        chain.claim,
        chain.says,
        chain.source,
        chain.queries,
        tuple(ClaimedTest(name, standing_of(name, tests)) for name in chain.tests),
        chain.scenario,
        chain.evidence,
        chain.level,
    )
