"""What each node was in each phase of a run, by its journal: who led, was restarted, or was stopped; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from harness.model.events import ENDED, Event, NodeChanged, PhaseStarted, QuorumSeen, is_of_the_plan


def roles(events: Iterable[Event], voters: Collection[int]) -> dict[int, dict[str, str]]:
    """Return by node and phase what the node was: `leader`, `restarted leader`, `follower`, `restarted follower`,
    `stopped voter`, and `observer` in the same three ways. A follower is a voter.

    The leader is whom the voters named last in the phase, before it if they named nobody in it. Restarted is who was
    started in the phase and not for the first time, stopped who had ended when the phase did. A node that had not been
    started yet is left out. What follows the plan (every node is stopped) belongs to no phase.
    """
    known = list(events)
    ends = max((at for at, event in enumerate(known) if is_of_the_plan(event)), default=-1)
    return _Walk(voters).through(known[: ends + 1])


class _Walk:
    """The journal from its beginning: what is known at the present line, and what nodes were in earlier phases."""

    def __init__(self, voters: Collection[int]) -> None:
        self._voters = voters
        self._leader = -1
        self._states: dict[int, str] = {}
        self._restarted: set[int] = set()
        self._phase = ""
        self._roles: dict[int, dict[str, str]] = {}

    def through(self, events: Iterable[Event]) -> dict[int, dict[str, str]]:
        for event in events:
            match event:
                case PhaseStarted(name):
                    self._end_phase()
                    self._phase = name
                case NodeChanged(node, state):
                    self._on_node(node, state)
                case QuorumSeen(leader) if leader >= 0:
                    self._leader = leader
                case _:  # nothing else says what a node was
                    pass
        self._end_phase()
        return self._roles

    def _on_node(self, node: int, state: str) -> None:
        if state == "starting" and node in self._states:
            self._restarted.add(node)
        self._states[node] = state

    def _end_phase(self) -> None:
        for node in self._states if self._phase else ():
            self._roles.setdefault(node, {})[self._phase] = self._role(node)
        self._restarted = set()

    def _role(self, node: int) -> str:
        votes = node in self._voters
        if self._states[node] in ENDED:
            return "stopped voter" if votes else "stopped observer"
        role = "observer" if not votes else "leader" if node == self._leader else "follower"
        return f"restarted {role}" if node in self._restarted else role
