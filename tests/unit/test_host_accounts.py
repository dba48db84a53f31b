"""What the kernel's accounts say, in the forms that kernels and containers give them."""

import math
import os
import threading
from pathlib import Path

import pytest

from harness.base.waiting import wait_until
from harness.cluster import host_accounts as accounts


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_every_thread_of_a_process_has_its_own_wait(tmp_path):
    proc = write(tmp_path, {"7/task/7/schedstat": "5 2000000000 3\n", "7/task/9/schedstat": "5 500000000 3\n"})
    found = accounts.accounts_of(7, proc)
    assert {thread: account.waited for thread, account in found.items()} == {7: 2.0, 9: 0.5}


@pytest.mark.parametrize(("state", "runnable"), [("R", True), ("S", False), ("D", False)])
def test_a_thread_that_sleeps_does_not_wait_for_a_processor(tmp_path, state, runnable):
    proc = write(tmp_path, {"7/task/9/stat": f"9 (kafka) x) {state} 1 2\n"})
    assert accounts.is_runnable(7, 9, proc) == runnable
    assert not accounts.is_runnable(7, 10, proc)


def test_a_process_that_has_ended_has_no_accounts(tmp_path):
    assert accounts.accounts_of(7, tmp_path) == {}
    assert accounts.processor_seconds(7, tmp_path) == 0.0
    assert accounts.written_bytes(7, tmp_path) == 0
    assert accounts.thread_name(7, 9, tmp_path) == "thread 9"


def test_a_process_whose_name_has_a_bracket_is_counted_as_any_other(tmp_path):
    fields = " ".join(map(str, range(3, 20)))
    proc = write(tmp_path, {"7/stat": f"7 (a) b) S {fields.partition(' ')[2]}"})
    assert accounts.processor_seconds(7, proc) == pytest.approx((14 + 15) / os.sysconf("SC_CLK_TCK"))


def test_only_the_processors_that_may_be_used_count_and_what_other_guests_took_is_busy(tmp_path):
    stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 0 0 500 500 0 0 300 0 0\ncpu1 7 0 0 0 0 0 0 0 0 0\nintr 5\n"
    proc = write(tmp_path, {"stat": stat})
    assert accounts.busy_seconds({0}, proc) == pytest.approx(400 / os.sysconf("SC_CLK_TCK"))


def test_pressure_is_the_time_in_which_everybody_waited(tmp_path):
    text = "some avg10=1.00 avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n"
    proc = write(tmp_path, {"pressure/io": text})
    assert (accounts.stalled_seconds("io", proc), accounts.stalled_seconds("memory", proc)) == (2.5, 0.0)


def test_disks_count_operations_and_how_long_they_took_but_for_disks_in_memory(tmp_path):
    old = "   8       0 sda 10 0 80 200 5 0 40 1000 0 9 9\n"
    new = " 254       0 vda 1 0 8 3 2 0 8 40 0 9 9 0 0 0 0 4 600\n"
    memory = "   7       0 loop0 9 0 9 9 9 0 9 9 0 9 9\n 253 0 zram0 9 0 9 9 9 0 9 9 0 9 9\n"
    proc = write(tmp_path, {"diskstats": f"{memory}{old}{new}"})
    assert accounts.disk_operations(proc) == {"read": (11, 0.203), "write": (7, 1.04), "flush": (4, 0.6)}
    assert accounts.disk_operations(tmp_path / "none") == {}


@pytest.mark.parametrize(
    ("membership", "files"),
    [
        ("0::/box\n", {"box/cpu.stat": "nr_throttled 3\nthrottled_usec 1500000\n"}),
        ("0::/box\n", {"cpu.stat": "throttled_usec 1500000\n"}),
        ("4:cpu,cpuacct:/box\n", {"cpu,cpuacct/box/cpu.stat": "throttled_time 1500000000\n"}),
        ("4:cpu:/not/seen/in/here\n0::/\n", {"cpu/cpu.stat": "throttled_time 1500000000\n"}),
    ],
    ids=["cgroup 2", "cgroup 2 in a container", "cgroup 1", "cgroup 1 in a container"],
)
def test_a_quota_is_found_by_either_kind_of_cgroup(tmp_path, membership, files):
    proc = write(tmp_path / "proc", {"self/cgroup": membership})
    assert accounts.throttled_seconds(proc, write(tmp_path / "cgroup", files)) == 1.5


@pytest.mark.parametrize(
    ("files", "kills"),
    [({}, 0), ({"memory.events": "low 0\noom 2\noom_kill 2\n"}, 2), ({"memory/memory.oom_control": "oom_kill 1\n"}, 1)],
)
def test_the_kernels_kills_for_memory_are_counted(tmp_path, files, kills):
    proc = write(tmp_path / "proc", {"self/cgroup": "4:memory:/box\n0::/\n"})
    (tmp_path / "cgroup").mkdir()
    assert accounts.out_of_memory_kills(proc, write(tmp_path / "cgroup", files)) == kills
    write(proc, {"vmstat": "nr_free_pages 7\noom_kill 5\n"})
    assert accounts.out_of_memory_kills(proc, tmp_path / "cgroup") == kills + 5


def test_this_hosts_own_accounts_can_be_read():
    stop = threading.Event()

    def spin():
        while not stop.is_set():
            pass

    thread = threading.Thread(target=spin)
    before = accounts.processor_seconds(os.getpid())
    thread.start()
    try:
        assert thread.native_id in accounts.accounts_of(os.getpid())
        assert wait_until(lambda: accounts.processor_seconds(os.getpid()) > before, 10)
        assert accounts.busy_seconds(os.sched_getaffinity(0)) > 0
    finally:
        stop.set()
        thread.join()
    assert accounts.work_seconds() > 0
    assert accounts.work_seconds(iter([1.0, 3.0]).__next__) == 2.0


@pytest.mark.parametrize(
    ("membership", "files", "processors"),
    [
        ("0::/box\n", {"box/cpu.max": "150000 100000\n"}, 1.5),
        ("0::/box\n", {"cpu.max": "max 100000\n"}, math.inf),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
        ("0::/\n", {}, math.inf),
    ],
)
def test_a_quota_leaves_so_many_processors(tmp_path, membership, files, processors):
    proc = write(tmp_path / "proc", {"self/cgroup": membership})
    assert accounts.quota_processors(proc, write(tmp_path / "cgroup", files)) == processors
