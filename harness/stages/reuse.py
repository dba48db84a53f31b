"""What a verification takes over from an earlier one of the very same, and leaves for a later one (docs/reuse.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.engine.planned_run import PlannedRun
from harness.model.proof import ChangedMethod
from harness.model.setup import NodeRuntime
from harness.rundir.directory import RunDirectory
from harness.stages.kept import kept_in
from harness.stages.reuse_base import digests_of_base, keep_base, take_base
from harness.stages.reuse_digests import surroundings
from harness.stages.reuse_reach import digest_of_search, keep_reach, take_reach
from harness.toolbox.toolbox import Toolbox


class Reuse:
    """What is taken over into one run directory, and kept of it; upstream's tests are a matter of the proof.

    With `--fresh` nothing is taken over; what comes out is kept all the same. `methods` are those that changed, None
    where only the proof in the folder says which.
    """

    def __init__(
        self,
        directory: RunDirectory,
        toolbox: Toolbox,
        reporter: Reporter,
        methods: Sequence[ChangedMethod] | None = None,
    ) -> None:
        self._directory, self._toolbox, self._reporter, self._methods = directory, toolbox, reporter, methods
        self._kept = kept_in(toolbox.cache)
        self._base: Mapping[str, str] = {}
        self._reach = ""

    def take(self, cells: Sequence[PlannedRun]) -> None:
        """Take over what is known of the declared cells; what is there already stays."""
        directory, request = self._directory, self._directory.request.read()
        if request.runtime is not NodeRuntime.PROCESS:  # what is in the image of a container has no digest here
            return
        host, java = directory.declaration.read().host, self._toolbox.node_java()
        around = surroundings(host, java, request.scenario_folders)
        self._base = digests_of_base(cells, around)
        if request.coverage:
            self._reach = self._digest_of_reach(cells, around)
        if request.fresh:
            return
        take_base(directory, cells, self._base, self._kept, self._reporter)
        if self._reach and not directory.proof(directory.declaration.read().candidate).coverage.is_whole:
            take_reach(directory, self._reach, self._kept, self._reporter)

    def keep(self) -> None:
        """Keep what this verification made, once it is judged."""
        keep_base(self._directory, self._base, self._kept)
        if self._reach:
            keep_reach(self._directory, self._reach, self._kept)

    def _digest_of_reach(self, cells: Sequence[PlannedRun], around: Mapping[str, str]) -> str:
        try:
            return digest_of_search(self._directory, cells, self._changed(), self._toolbox, around)
        except HarnessError:  # what measures cannot be had, which the stage reports
            return ""

    def _changed(self) -> Sequence[ChangedMethod]:
        if self._methods is not None:
            return self._methods
        proof = self._directory.proof(self._directory.declaration.read().candidate).proof.read_if_exists()
        return proof.changed_methods if proof else ()
