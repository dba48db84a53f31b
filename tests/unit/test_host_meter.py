"""The meter reads the kernel's own accounts of real processes."""

import math
import os
import subprocess
import time

import pytest

from harness.base.waiting import wait_until
from harness.cluster import host_accounts as accounts
from harness.cluster.host_accounts import ThreadAccount
from harness.scenario.host_meter import HostMeter, host_speed
from harness.scenario.slowness import slowness_of

BUSY = ["/bin/sh", "-c", "while :; do :; done"]


@pytest.fixture
def busy():
    """Return a function that starts a busy program on the first processor; a modest one runs when nobody else does."""
    first = min(os.sched_getaffinity(0))

    def start(modest=False):
        process = subprocess.Popen(BUSY)
        started.append(process)
        os.sched_setaffinity(process.pid, {first})
        if modest:
            os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))
        return process.pid

    started = []
    yield start
    for process in started:
        process.kill()
        process.wait()


def readings_of(pid, seconds):
    """Yield readings, one every so many seconds, for ever."""
    meter = HostMeter(host_speed())
    meter.reading([(3, pid)])
    while True:
        time.sleep(seconds)
        yield meter.reading([(3, pid)])


def test_a_process_that_others_crowd_out_is_seen_to_be_starved(busy):
    busy()
    readings, seen = readings_of(busy(modest=True), 0.5), []
    assert wait_until(lambda: seen.append(next(readings)) or slowness_of(seen).is_starved, 20)
    assert slowness_of(seen).reason.startswith("processor: node 3 (sh, thread ")


def test_a_meter_counts_from_its_first_reading_of_a_process(busy):
    pid = busy()
    time.sleep(0.5)
    reading = next(readings_of(pid, 0.2))
    assert reading.own <= reading.seconds + 0.1, "half a second that it had run before is not counted"
    assert 0.1 < reading.seconds < 10


def test_a_disk_answers_as_the_slowest_of_its_operations_did_since_the_last_reading(monkeypatch):
    counts = iter(
        [
            {"read": (10, 1.0), "flush": (5, 1.0)},
            {"read": (20, 1.02), "flush": (7, 2.0)},
            {"read": (20, 1.02), "flush": (7, 2.0)},
            {},
        ]
    )
    monkeypatch.setattr(accounts, "disk_operations", lambda: next(counts))
    meter = HostMeter()
    assert [meter.reading([]).answer for _ in range(3)] == [0.5, math.inf, math.inf]


def test_a_wait_that_lasts_is_counted_as_it_grows_and_not_again_when_it_ends(monkeypatch):
    schedstat = iter([(1.0, 5), (1.0, 5), (1.0, 5), (9.0, 6), (9.5, 7)])  # seconds waited, and times on a processor
    monkeypatch.setattr(accounts, "accounts_of", lambda _: {7: ThreadAccount(*next(schedstat), ran=0)})
    monkeypatch.setattr(accounts, "is_runnable", lambda *_: True)
    meter = HostMeter()
    waited = [sum(dict(meter._waits(3, 7, 4.0)).values()) for _ in range(5)]
    assert waited == [1.0, 4.0, 4.0, 0.0, 0.5]


def test_a_sleep_that_the_kernel_counts_as_a_wait_counts_for_no_longer_than_has_passed(monkeypatch):
    schedstat = iter([(0.1, 5), (16.4, 6)])
    monkeypatch.setattr(accounts, "accounts_of", lambda _: {7: ThreadAccount(*next(schedstat), ran=0)})
    meter = HostMeter()
    assert [sum(dict(meter._waits(3, 7, 1.0)).values()) for _ in range(2)] == [0.1, 1.0]


@pytest.fixture
def takes(monkeypatch):
    """Return how many seconds the fixed piece of work takes, for the test to change."""
    seconds = [1.0]
    monkeypatch.setattr(accounts, "work_seconds", lambda: seconds[-1])
    host_speed.cache_clear()
    yield seconds
    host_speed.cache_clear()


def test_a_host_is_measured_by_what_it_was_before_the_first_run_however_slow_it_is_before_a_later_one(takes):
    assert HostMeter(host_speed()).reading([]).slowdown == 1.0
    takes.append(3.0)
    assert HostMeter(host_speed()).reading([]).slowdown == 3.0
