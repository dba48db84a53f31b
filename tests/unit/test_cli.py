"""The command line as a user meets it: sentences instead of tracebacks, exit codes that can be relied on."""

import errno
import os
import shutil
import subprocess
import sys
import time
from importlib.metadata import version

import pytest
from typer.main import get_command

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.base.locks import MARKER, SCRATCH, owned, scratch
from harness.cli import app as cli
from harness.cli.common import fresh_run_dir, new_run_dir
from harness.cli.inspect import use_of_lock
from harness.doctor import examine
from harness.model.request import Request
from harness.model.rollout import RollPlan
from harness.rundir.directory import RunDirectory
from harness.toolbox.toolbox import local_toolbox


@pytest.fixture
def harness(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        code = cli._run()
        return (code, *capsys.readouterr())

    return run


def test_help_names_every_command_and_the_exit_codes(harness):
    code, out, _ = harness("--help")
    assert code == 0
    assert all(name in out for name in ("verify", "build", "run", "diff", "judge", "report", "list", "plan", "doctor"))
    assert "0 SHIP, 1 HOLD, 2 usage or harness error, 3 INCONCLUSIVE, 130 interrupted" in " ".join(out.split())


@pytest.mark.parametrize(
    ("release", "command"),
    [
        ("2.8.2", "--kafka 2.8.2 --arms base --claims none --suite elections"),
        ("3.9.2", "--kafka 3.9.2"),
        ("4.0.2", "--base-kafka 3.9.2 --kafka 4.0.2"),
        ("4.1.9", "--base-kafka 4.1.2 --kafka 4.1.9"),
    ],
)
def test_what_is_locked_can_be_asked_about_its_series_else_beside_the_release_before_it(release, command):
    assert use_of_lock(release) == f"harness verify {command}"


def test_verify_help_has_examples(harness):
    code, out, _ = harness("verify", "--help")
    assert code == 0
    assert "harness verify --jar kafka-raft-3.9.1.jar" in out


@pytest.mark.parametrize("width", [60, 80, 160])
@pytest.mark.parametrize("command", ["verify", "prove", "build", "rollout", "diff"])
def test_every_example_stands_on_a_line_of_its_own_at_any_width(harness, monkeypatch, command, width):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", width)
    lines = harness(command, "--help")[1].splitlines()
    examples = lines[lines.index(next(line for line in lines if line.strip() == "Examples:")) + 1 :]
    begin = [line for line in examples if "harness " in line and "│" not in line]
    assert len(begin) > 1
    assert all(line.startswith(f"  • harness {command}") for line in begin)
    assert max(map(len, lines)) <= width


def helps(command, name="harness"):
    """Yield each text of a command's help, and of its sub-commands', with the command's name."""
    texts = (command.help, command.epilog, *(getattr(each, "help", "") for each in command.params))
    yield from ((name, line) for text in texts for line in (text or "").splitlines())
    for sub, each in getattr(command, "commands", {}).items():
        yield from helps(each, f"{name} {sub}")


def test_no_help_has_a_backtick_that_is_not_one_of_a_pair():
    found = list(helps(get_command(cli.app)))
    assert len({name for name, _ in found}) > 30
    assert [(name, line) for name, line in found if "``" in line or line.count("`") % 2] == []


def test_help_shows_how_a_run_directory_is_named(harness, monkeypatch):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 160)
    assert "out/<time>-<command> if not given" in harness("verify", "--help")[1]
    assert "out/<time>-night if not given" in harness("nightly", "--help")[1]


def test_the_version_is_that_of_the_installation(harness):
    assert harness("--version")[:2] == (0, f"kafka-patch-harness {version('kafka-patch-harness')}\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("verfy",), "Did you mean 'verify'?"),
        (("verify", "--bogus"), "No such option: --bogus"),
        (("build", "--fresh"), "No such option: --fresh"),
        (("prove", "--profile-time"), "No such option: --profile-time"),
        (("verify", "--repeats", "0"), "greater than or equal to 1"),
        (("verify", "--scenario", "turn3"), "No scenario is named 'turn3'. Did you mean turn"),
        (("verify", "--suite", "all"), "No suite is named 'all'. There are: bootstrap"),
        (("verify", "--claims", "nowhere.toml"), "nowhere.toml cannot be read: No such file"),
        (("verify", "--kafka", "4.1.2"), "There is no patch series for Kafka 4.1.2"),
        (("verify", "--kafka", "4.1.2"), "--base-kafka A --kafka B, or build sources as they are by --series none"),
        (("verify", "--kafka", "9.9.9"), "Kafka 9.9.9 is of a release line that is not described here"),
        (("verify", "--kafka", "5.0.0", "--claims", "none"), "can be neither locked, built, proved nor run"),
        (("rollout", "--kafka", "5.0.0"), "can be neither locked, built, proved nor run"),
        (("rollout", "--rehearse", "finalised"), "Features are finalised last"),
        (("rollout", "--order", "controller-first"), "or write brokers-first or controllers-first"),
        (("rollout", "--base-kafka", "2.8.2", "--kafka", "3.9.2"), "Nodes of Kafka 2.8 cannot be run in mode kraft"),
        (("verify", "--base-dist", "nowhere"), "nowhere does not exist"),
        (("plan", "turn3"), "Did you mean turn"),
        (("run", "."), "is no run directory"),
        (("judge", "."), "is no run directory"),
        (("diff", "."), "a second folder to compare it with. Name two folders of logs: harness diff . OTHER"),
        (("diff", ".", "--candidate-repeats-dir", "x"), "--candidate-repeats-dir goes with two folders of logs"),
        (("diff", "gone.log", "."), "There is no gone.log"),
        (("diff", "gone"), "gone does not exist"),
        (("diff", ".", "x", "--fail-on", "new,levle"), "No kind of finding is named 'levle'. Did you mean level"),
        (("diff", ".", "x", "--fail-on", ","), "--fail-on names no kind of finding. There are: new, vanished"),
        (("diff", ".", ".", "--out", "/proc/nowhere"), "/proc/nowhere cannot be made"),
        (("lock", "3.9.1", "--out", "/proc/nowhere"), "/proc/nowhere cannot be made"),
        (("build", "--out", "/proc/nowhere"), "/proc/nowhere cannot be made"),
        (("verify", "--waivers", "nowhere.toml"), "nowhere.toml cannot be read: No such file"),
        (("prove", "--waivers", "nowhere.toml"), "nowhere.toml cannot be read: No such file"),
        (("report", "."), "is no run directory"),
        (("diff", ".", "--layout", "x"), "--layout goes with two folders of logs"),
    ],
)
def test_a_mistake_is_answered_with_a_sentence_and_exit_code_2(harness, arguments, sentence):
    code, out, err = harness(*arguments)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert "Traceback" not in out + err


def test_a_failed_command_leaves_no_empty_run_directory(harness, tmp_path):
    harness("verify", "--claims", "nowhere.toml", "--out", "run")
    assert not (tmp_path / "run").exists()


def test_owned_keys_in_a_config_are_refused_before_anything_is_built(harness, tmp_path):
    (tmp_path / "my.properties").write_text("node.id=7\ncontroller.quorum.dynamic.bootstrap.servers.enable=true\n")
    code, out, err = harness("verify", "--config", "my.properties")
    assert code == 2
    assert "controller.quorum.dynamic.bootstrap.servers.enable, node.id" in err
    assert "building" not in out


def test_what_a_user_typed_is_never_taken_for_markup(harness):
    _, _, err = harness("plan", "[red]x[/red]")
    assert "[red]x[/red]" in err


def test_a_fault_of_the_harness_is_one_sentence_and_keeps_its_traceback(harness, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("harness.scenario.registry.load_all", lambda _: 1 / 0)
    code, _, err = harness("list")
    assert code == 2
    assert "internal error: ZeroDivisionError" in err
    assert "ZeroDivisionError" in next(tmp_path.glob("kafka-patch-harness-error-*")).read_text()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        shutil.Error([("a", "b", "[Errno 28] No space left on device")]),
    ],
)
def test_a_full_disk_is_no_fault_of_the_harness_and_nothing_half_written_is_left(harness, monkeypatch, tmp_path, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("harness.base.recordfile.write_text", fail)
    monkeypatch.setattr("shutil.copytree", fail)
    (tmp_path / "run").mkdir()
    declared = '{"schema": 2, "kafka_version": "", "arms": [], "scenarios": [], "repeats": 1}'
    (tmp_path / "run" / "run.json").write_text(declared)
    for words in (("verify",), ("judge", "run", "--out", "copy")):
        code, _, err = harness(*words)
        assert (code, "error: A disk is full." in err, "internal" in err) == (2, True, False)
    assert not [*tmp_path.glob("out/*"), *tmp_path.glob("copy")]


def test_a_command_sweeps_what_a_killed_one_left_and_keeps_what_another_holds(harness, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    left = tmp_path / "tmp" / f"{SCRATCH}left"
    left.mkdir(parents=True)
    with scratch(tmp_path / "tmp") as held:
        assert harness("list")[0] == 0
        assert (left.exists(), held.exists()) == (False, True)


def test_a_run_directory_in_use_is_refused_and_says_whose_it_is(harness, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "request.json").write_text(to_json(Request()))
    with owned(tmp_path / "run"):
        code, _, err = harness("verify", "--resume", "run")
    assert code == 2
    assert f"run is in use by process {os.getpid()}, running since" in err


def test_whoever_interrupts_reads_how_to_go_on_once(harness, monkeypatch, tmp_path):
    def interrupt(run_dir, _toolbox, _reporter):
        (run_dir / "run.json").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.stages.verify.verify", interrupt)
    code, _, err = harness("verify", "--out", "a run")
    assert code == 130
    assert "nothing is left running. Go on with: harness verify --resume 'a run'" in err
    assert "Go on" not in harness("list")[2]


def test_whoever_interrupts_what_does_not_end_in_time_reads_the_same(tmp_path):
    program = "import sys, time\nfrom harness.cli import app\nfrom harness.stages import verify\n"
    program += "def held(*_):\n    try: print('at work', flush=True) or time.sleep(60)\n    finally: time.sleep(60)\n"
    program += "verify.verify, app._END_WITHIN_SECONDS, sys.argv = held, 0.3, ['harness', 'verify', '--out', 'run']\n"
    command = [sys.executable, "-c", program + "app.main()"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
    ) as process:
        while "at work" not in process.stdout.readline():
            assert process.poll() is None, process.stderr.read()
        process.terminate()
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "nothing is left running. Go on with: harness verify --resume run" in err


def test_list_names_scenarios_series_and_versions(harness):
    code, out, _ = harness("list")
    assert code == 0
    assert all(word in out for word in ("turn1", "turn2", "new-mechanism", "3.9.1/dynamic-bootstrap"))


def test_plan_shows_the_steps_in_words(harness):
    code, out, _ = harness("plan", "turn2")
    assert code == 0
    assert "restart the first to move on new ports" in out
    assert "as observer_recovers" in out


def test_rehearsals_of_the_rollout_are_listed_and_their_plans_printed_as_any_other(harness):
    assert "forward-and-back" in harness("list")[1]
    code, out, _ = harness("plan", "dies-on-load")
    assert code == 0
    assert "3 controllers and 3 brokers; suite rollout" in out
    assert "as back_in_service" in out


def test_the_plan_of_a_rehearsal_shows_when_kafkas_scripts_are_run(harness):
    _, out, _ = harness("plan", "control")
    steps = [line.split(maxsplit=1)[-1] for line in out.splitlines() if line.startswith("  ")]
    assert "run the commands of the runbook" in steps
    assert "elect the preferred leaders of all partitions, by Kafka's own command" in steps


def test_what_plans_are_made_of_is_listed_by_kind(harness):
    out = harness("list", "--verbs")[1]
    rows = [line.split()[:2] for line in out.splitlines()]
    for verb in (["fault", "kill"], ["condition", "has_leader"], ["load", "produce"], ["monitor", "node_alive"]):
        assert verb in rows


def test_doctor_names_what_scenarios_may_need_of_the_host(harness):
    out = harness("doctor")[1]
    assert "network_namespaces: " in out
    assert "run_queue_accounts: " in out


@pytest.mark.parametrize("command", ["run", "diff"])
def test_single_stages_of_a_verification_are_refused_on_a_rollout(harness, tmp_path, command):
    directory = RunDirectory(tmp_path)
    directory.roll_plan.write(RollPlan("3+3", (), ("control",), 0.0))
    code, _, err = harness(command, str(tmp_path))
    assert code == 2
    assert f"harness rollout --resume {tmp_path}" in " ".join(err.split())


@pytest.mark.parametrize(
    "arguments", [("compare", "rollout", "rollout"), ("merge", "rollout", "--out", "night")], ids=["compare", "merge"]
)
def test_a_rollout_is_neither_compared_nor_merged_and_no_command_that_changes_nothing_is_named(
    harness, tmp_path, monkeypatch, arguments
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rollout").mkdir()
    RunDirectory(tmp_path / "rollout").roll_plan.write(RollPlan("3+3", (), ("control",), 0.0))
    code, _, err = harness(*arguments)
    assert code == 2
    assert "rollout is a rollout." in err
    assert "Only verifications and nights are" in err
    assert "harness judge" not in err
    assert not (tmp_path / "night").exists()


def test_a_rollout_is_gone_on_with_as_a_rollout_and_nothing_else_is(harness, tmp_path):
    (tmp_path / "nothing").mkdir()
    assert "is no rollout" in harness("rollout", "--resume", str(tmp_path / "nothing"))[2]
    RunDirectory(tmp_path).roll_plan.write(RollPlan("3+3", (), ("control",), 0.0))
    assert "is a rollout" in harness("verify", "--resume", str(tmp_path))[2]


def test_doctor_says_what_is_there_and_how_to_mend_what_is_not(harness):
    code, out, _ = harness("doctor")
    assert "bundled Java" in out
    assert ("This host can verify." in out) == (code == 0)


def test_whatever_is_missing_comes_with_a_fix():
    assert all(finding.ok or finding.fix for finding in examine(local_toolbox()))


def test_a_run_directory_that_is_not_empty_is_never_written_into(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(HarnessError, match="is not empty") as caught:
        new_run_dir(tmp_path, "verify")
    assert caught.value.hint == "Name another by --out."
    RunDirectory(tmp_path).request.write(Request())
    with pytest.raises(HarnessError, match="is not empty") as caught:
        new_run_dir(tmp_path, "verify")
    assert f"harness verify --resume {tmp_path}" in caught.value.hint


def test_a_run_directory_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(HarnessError, match=r"file/run cannot be made: Not a directory"):
        new_run_dir(tmp_path / "file" / "run", "verify")


def test_a_folder_that_a_killed_harness_only_marked_is_as_good_as_empty(tmp_path):
    (tmp_path / MARKER).touch()
    assert new_run_dir(tmp_path, "verify") == tmp_path


@pytest.mark.parametrize(
    ("written", "error", "kept"),
    [
        ("builds/stock/build.log", HarnessError("no"), False),
        ("builds/stock/build.log", KeyboardInterrupt(), False),
        ("run.json", HarnessError("no"), True),
    ],
)
def test_a_failed_command_keeps_its_folder_only_if_one_can_go_on_from_it(tmp_path, written, error, kept):
    def fail():
        with fresh_run_dir(tmp_path / "run", "verify") as folder:
            (folder / written).parent.mkdir(parents=True, exist_ok=True)
            (folder / written).touch()
            raise error

    with pytest.raises(type(error)):
        fail()
    assert (tmp_path / "run").exists() == kept


@pytest.mark.parametrize("is_link", [False, True])
def test_a_folder_that_was_there_is_left_empty_by_a_failed_command(tmp_path, is_link):
    (tmp_path / "place").mkdir()
    out = tmp_path / "place"
    if is_link:
        out = tmp_path / "link"
        out.symlink_to(tmp_path / "place")

    def fail():
        with fresh_run_dir(out, "verify", Request()) as folder:
            (folder / "builds").mkdir()
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            fail()
        assert list((tmp_path / "place").iterdir()) == []
        assert out.exists()


@pytest.mark.parametrize("words", [("simulate", "mine", "--property", "A#b", "--seed", "1"), ("convert", "mine")])
def test_a_folder_that_is_no_run_directory_keeps_what_it_has(harness, tmp_path, words):
    (tmp_path / "mine" / "builds").mkdir(parents=True)
    (tmp_path / "mine" / "builds" / "notes.txt").write_text("mine")
    assert harness(*words)[0] == 2
    assert (tmp_path / "mine" / "builds" / "notes.txt").read_text() == "mine"


def test_of_a_failed_build_the_log_is_left_that_the_message_names_and_nothing_else(tmp_path):
    log = tmp_path / "run" / "builds" / "patched" / "build.log"

    def fail():
        with fresh_run_dir(tmp_path / "run", "verify") as folder:
            for path in (log, folder / "builds" / "stock" / "build.log", log.with_name("raft.jar")):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("said")
            raise HarnessError("no", "see build.log", kept=log)

    with pytest.raises(HarnessError):
        fail()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [log]
    assert log.read_text() == "said"


LOST_INTERRUPTION = """
import os, signal, sys, time, weakref
from harness.cli import app

class Target:
    pass

def act():
    target = Target()
    kept = weakref.ref(target, lambda _: signal.raise_signal(signal.SIGINT))
    del target
    time.sleep(20)
    return 0

app._run = lambda: act()
try:
    app.main()
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_an_interruption_in_a_callback_where_python_loses_it_is_raised_again():
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", LOST_INTERRUPTION], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (130, "")
    assert time.monotonic() - began < 15


def test_what_a_library_logs_of_an_interruption_is_not_printed():
    program = "import logging\nfrom harness.cli import app\n"
    program += (
        "def act():\n    try: raise KeyboardInterrupt\n    except KeyboardInterrupt: logging.exception('sending')\n"
    )
    program += "    return 130\napp._run = act\napp.main()\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interruption_while_the_command_is_being_loaded_is_a_sentence():
    program = "import sys\nsys.modules['harness.cli.app'] = None\nfrom harness import cli\n"
    broken = (
        program
        + "import builtins\nreal = builtins.__import__\n"
        + (
            "def load(name, *rest):\n"
            "    if name == 'harness.cli.app': raise KeyboardInterrupt\n"
            "    return real(name, *rest)\n"
            "builtins.__import__ = load\ncli.main()\n"
        )
    )
    done = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (130, "\nStopped; nothing was begun.\n")


SWALLOWED_INTERRUPTION = """
import signal, sys
from harness.cli import app
from harness.cli.common import reporter

@app.app.command()
def act():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        {made_of_it}
    try:
        raise ValueError
    except ValueError:
        reporter().report("cleaning up")
    reporter().report("going on")
    return 0

sys.argv = ["harness", "act"]
app.main()
"""


@pytest.mark.parametrize(
    ("made_of_it", "printed"),
    [("pass", "  cleaning up\n"), ("raise ImportError('numpy.core.multiarray failed to import') from None", "")],
    ids=["nothing", "another error"],
)
def test_an_interruption_that_a_library_makes_something_else_of_ends_the_command_all_the_same(made_of_it, printed):
    program = SWALLOWED_INTERRUPTION.format(made_of_it=made_of_it)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, printed, "\nStopped; nothing is left running.\n")


def test_where_no_run_directory_can_be_made_by_default_that_is_said_in_a_sentence(harness, tmp_path):
    (tmp_path / "out").write_text("a file")
    code, _, err = harness("build")
    assert code == 2
    assert "out/" in err
    assert "cannot be made: Not a directory. Name another by --out." in " ".join(err.split())
