"""Loading: every class of a jar loaded, verified and linked among the distribution's jars, none of its code run."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.building.compiling import Builder
from harness.building.java_programs import NoAnswer, answer_of, compiled_probe
from harness.model.proof import Difference
from harness.proof.bytecode import Classes, Use
from harness.proof.dropin import rules
from harness.toolbox.java import JavaRuntime

_SOURCE = "LoadProbe.java"
_SECONDS = 120
_NO_CLASS = "its class is not there"  # as the probe says it


def prepare_loader(builder: Builder, cache: Path) -> Path:
    """Return the folder with the compiled probe. Raises HarnessError when it does not compile."""
    return compiled_probe(builder, Path(__file__).with_name(_SOURCE), (), cache)


def check_loading(
    java: JavaRuntime, loader: Path, jar: Path, classes: Classes, others: Sequence[Path]
) -> tuple[Difference, ...]:
    """Return the classes that do not load, and the uses, of whatever jar, that resolve to nothing.

    Raises HarnessError when the JVM gives no whole answer.
    """
    questions = questions_about(classes)
    return read_answer(ask_probe(java, loader, jar, others, [each.line for each in questions]), questions, jar)


def newly_broken(
    java: JavaRuntime, loader: Path, base: tuple[Path, Classes], candidate: tuple[Path, Classes], others: Sequence[Path]
) -> tuple[Difference, ...]:
    """Return what of a candidate does not load or resolve, and of base does: an optional class is missing on both.

    Each jar comes with its classes. Raises HarnessError when the JVM gives no whole answer.
    """
    found = check_loading(java, loader, *candidate, others)
    before = {(each.rule, each.where) for each in check_loading(java, loader, *base, others)} if found else set()
    return tuple(each for each in found if (each.rule, each.where) not in before)


def ask_probe(java: JavaRuntime, loader: Path, jar: Path, others: Sequence[Path], lines: Sequence[str]) -> str:
    """Return what the probe answers to these lines. Raises HarnessError when the JVM gives no answer."""
    with tempfile.TemporaryDirectory(prefix="kafka-patch-harness-") as folder:
        request = Path(folder) / "questions"
        request.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
        return _run_probe(java, loader, jar, others, request)


class LinkQuestion:
    """One line put to the probe: a class to load, or a use with the class that has it."""

    def __init__(self, user: str, use: Use | None = None) -> None:
        self.user = user.replace("/", ".")
        self.use = use

    @property
    def line(self) -> str:
        """The words of the line, between tabs."""
        if self.use is None:
            return f"class\t{self.user}"
        use = self.use
        return "\t".join(("use", self.user, use.kind, use.owner, use.name, use.descriptor, use.how))

    def broken(self, why: str) -> Difference:
        """Return the difference that the probe's complaint means."""
        if self.use is None:
            return rules.LOADING_BROKEN.broken(self.user, f"{self.user} does not load: {why}")
        owner = self.use.owner.replace("/", ".")
        used = owner if why == _NO_CLASS else f"{owner}.{self.use.name}{self.use.descriptor}"
        return rules.REFERENCE_UNRESOLVED.broken(used, f"{self.user} uses {used}, line {self.use.line}: {why}")


def questions_about(classes: Classes) -> list[LinkQuestion]:
    """Return what to load and resolve: each class, and each thing that it uses, once: not all may use the same."""
    uses: dict[tuple[str, ...], LinkQuestion] = {}
    for facts in classes.values():
        for use in (each for method in facts.methods for each in method.uses):
            asked = (facts.name, use.kind, use.owner, use.name, use.descriptor, use.how)
            uses.setdefault(asked, LinkQuestion(facts.name, use))
    found = [*(LinkQuestion(name) for name in classes), *uses.values()]
    # A name with a tab or a new line in it would forge a question; no Java source can write one.
    return [each for each in found if each.line.replace("\t", "").isprintable()]


def read_answer(answer: str, questions: Sequence[LinkQuestion], jar: Path) -> tuple[Difference, ...]:
    """Return what the probe complained of. Raises HarnessError for an answer that is not whole."""
    found: dict[tuple[str, str], Difference] = {}
    for number, why in complaints_in(answer, jar):
        broken = questions[number].broken(why)
        found.setdefault((broken.rule, broken.where), broken)
    return tuple(found.values())


def complaints_in(answer: str, jar: Path) -> list[tuple[int, str]]:
    """Return what the probe says, with the number of the line it is about. Raises HarnessError if it is not whole."""
    lines = answer.removesuffix("\n").split("\n")  # a name may have what else is taken for the end of a line
    if not lines or lines[-1] != "end":
        raise _failed(jar, "the answer is not whole")
    return [(int(number), why) for number, why in (line.split("\t", 1) for line in lines[:-1])]


def _run_probe(java: JavaRuntime, loader: Path, jar: Path, others: Sequence[Path], request: Path) -> str:
    words, path = ("LoadProbe", str(request)), (loader, jar, *others)
    try:
        return answer_of(java, *words, class_path=path, options=["-Xshare:auto"], seconds=_SECONDS)
    except NoAnswer as error:
        raise _failed(jar, str(error)) from error


def _failed(jar: Path, why: str) -> HarnessError:
    return HarnessError(f"Whether the classes of {jar} load could not be found out: {why}.", "Try again.")
