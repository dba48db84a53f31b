"""The checks of a rehearsal as they are made: looked at until they hold, journaled, with the lines that show why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.base.errors import HarnessError
from harness.cluster.cluster import Cluster
from harness.cluster.node import Node, NodeState
from harness.cluster.protocol import Unreachable
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.journal import Journal
from harness.engine.recorder import last_words
from harness.engine.watch import Watcher
from harness.model.runs import Evidence
from harness.rollout.errorlines import ErrorLines
from harness.rollout.health import Check, problem_of
from harness.rollout.looking import look
from harness.rollout.records import CheckSeen, Installed
from harness.rollout.traffic import Traffic

LOOK_EVERY_SECONDS = 0.25
_SERVING_SECONDS = 30.0
_MOST_LINES = 3


class RollStopped(Exception):  # noqa: N818 - what the checks are for, no fault
    """A check was not met: the roll goes no further."""


@dataclass(slots=True)
class Checking:
    """Makes the checks of one rehearsal. `path` is its folder below the run directory.

    `budget` is how long a client may wait, 0 where that is only measured; `judge_errors` is False where ERROR lines are
    only counted.
    """

    path: str
    journal: Journal
    cluster: Cluster
    watcher: Watcher
    traffic: Traffic
    errors: ErrorLines
    budget: float
    judge_errors: bool
    flag_key: str
    cancellation: Cancellation
    evidence: list[Evidence] = field(default_factory=list)

    def cluster_wide(self, checks: Sequence[Check], node: int, within: float) -> tuple[CheckSeen, ...]:
        """Look until all hold at once or the time is over; each tells when it was last unmet. Raises RollStopped."""
        began = time.monotonic()
        met_after = dict.fromkeys((check.name for check in checks), 0.0)
        while True:
            self.go_on()
            seen = look(self.cluster, self.watcher)
            problems = {check.name: problem_of(check, seen, node) for check in checks}
            took = time.monotonic() - began
            met_after |= {name: took for name, problem in problems.items() if problem}
            if not any(problems.values()) or took > within:
                break
            time.sleep(LOOK_EVERY_SECONDS)
        return self._journaled(
            *(
                CheckSeen(c.name, c.words, not problems[c.name], round(met_after[c.name], 2), problems[c.name])
                for c in checks
            )
        )

    def right_jar(self, node: Node, to: Installed) -> tuple[CheckSeen, ...]:
        """See what the live process runs."""
        problem = _wrong_jar(node, to, self.flag_key)
        words = "the live process runs the right jar, and its flag is as meant"
        return self._journaled(_seen("right_jar", words, problem))

    def clients(self, began: float) -> tuple[CheckSeen, ...]:
        """See that every client is served, and what they waited for and nodes complained of since a moment."""
        unserved = self.traffic.serving(_SERVING_SECONDS)
        waits = self.traffic.pauses_after(began)
        slow = {name: wait for name, wait in waits.items() if self.budget and wait > self.budget}
        over = ", ".join(f"{name} {wait:.1f} s" for name, wait in slow.items())
        within = f"no client waited longer than {self.budget:g} s" if self.budget else "how long clients waited"
        return self._journaled(
            _seen("clients_served", "every client is served", unserved),
            _seen("pause_within_budget", within, over),
            _seen("no_new_errors", "no ERROR line that base's own roll does not write", self._new_errors()),
        )

    def _new_errors(self) -> str:
        news = self.errors.news() if self.judge_errors else []
        self.evidence += [self._line(each.node, "server.log", each.line, each.text) for each in news[:_MOST_LINES]]
        return f"node {news[0].node}: {news[0].text}" if news else ""

    def still_serving(self) -> str:
        """After a stop: return "" or which clients get no answers."""
        problem = self.traffic.serving(_SERVING_SECONDS)
        self.note("every client is still served", not problem, problem)
        return problem

    def go_on(self) -> None:
        """Raise RunCancelled when the run was ended, RollStopped when a node ended by itself."""
        if self.cancellation.is_set:
            raise RunCancelled
        for node in self.cluster.nodes.values():
            node.look_for_death()
            if node.state is NodeState.DIED:
                words, shown = last_words(node.folder)
                self.evidence += [self._line(node.id, name, at) for name, at in shown]
                raise RollStopped(f"node {node.id} ended by itself{words}")

    def note(self, words: str, met: bool, problem: str = "", seconds: float = 0.0) -> None:
        """Journal a check; one that is not met is evidence."""
        status = "met" if met else "unmet"
        line = self.journal.write("step", kind="guard", text=words, status=status, seconds=seconds, detail=problem)
        if not met:
            self.show(line)

    def show(self, line: int) -> None:
        """Keep a line of the journal as evidence."""
        self.evidence.append(Evidence(f"{self.path}/journal.jsonl", line))

    def _line(self, node: int, name: str, at: int, text: str = "") -> Evidence:
        return Evidence(f"{self.path}/nodes/{node}/{name}", at, text)

    def _journaled(self, *seen: CheckSeen) -> tuple[CheckSeen, ...]:
        for each in seen:
            self.note(each.words, each.met, each.problem, each.seconds)
        return seen


def demand(seen: Sequence[CheckSeen], when: str) -> None:
    """Raise RollStopped unless all are met."""
    if problem := problems_of(seen):
        raise RollStopped(f"{when}: {problem}")


def problems_of(seen: Sequence[CheckSeen]) -> str:
    """Return what is not met, in words."""
    return "; ".join(f"{each.words}: not so ({each.problem})" for each in seen if not each.met)


def _seen(name: str, words: str, problem: str) -> CheckSeen:
    return CheckSeen(name, words, not problem, 0.0, problem)


def _wrong_jar(node: Node, to: Installed, flag_key: str) -> str:
    try:
        proof = node.prove(flag_key)
    except (Unreachable, OSError, HarnessError) as error:
        return f"it could not be asked: {error}"
    if proof.sha256 != to.sha256:
        return f"it runs {proof.sha256[:12] or 'no single raft jar'}, not {to.sha256[:12]}"
    return "" if proof.flag == to.flag else f"its flag is {proof.flag}, not {to.flag}"
