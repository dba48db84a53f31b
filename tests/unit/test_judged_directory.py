"""What lies in a run directory and contradicts itself is refused before it is judged."""

from dataclasses import replace

import pytest
from sample_run import write_sample

from harness.base.errors import HarnessError
from harness.model.arms import Role
from harness.model.runs import RunKey
from harness.rundir.directory import RunDirectory
from harness.stages.judge import judge_run

KEY = RunKey("turn2", "patched-on", 1)


@pytest.fixture
def directory(tmp_path):
    return RunDirectory(write_sample(tmp_path))


def test_a_result_of_another_role_than_its_arm_plays_is_refused(directory):
    """Else what is asked of a candidate alone, such as what its clients got, would not be asked of it."""
    result = directory.run(KEY).result
    result.write(replace(result.read(), role=Role.BASE))
    with pytest.raises(HarnessError, match="says that patched-on plays the role base, and"):
        judge_run(directory)


def test_a_run_directory_that_declares_no_repeat_is_damaged(directory):
    text = directory.declaration.path.read_text()
    directory.declaration.path.write_text(text.replace('"repeats": 1', '"repeats": 0'))
    with pytest.raises(HarnessError, match=r"run.json is damaged\. 0 repeats are declared"):
        judge_run(directory)
