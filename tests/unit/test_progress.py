"""What a user sees of stages and downloads while the harness works."""

import io

import pytest
from rich.console import Console

from harness.base.progress import Reporter, duration


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (125, "2 min 05 s")])
def test_durations_read_as_people_say_them(seconds, text):
    assert duration(seconds) == text


def plain(act):
    stream = io.StringIO()
    act(Reporter(Console(file=stream, width=200)))
    return stream.getvalue()


def test_downloads_are_summed_up_once_and_not_at_all_when_all_is_cached():
    def some(reporter):
        with reporter.downloads() as bar:
            bar.advance("a.jar", 1_000_000, 2_000_000)
            bar.advance("a.jar", 2_000_000, 2_000_000)

    def none(reporter):
        with reporter.downloads():
            pass

    assert plain(some) == "  1 file downloaded, 2 MB\n"
    assert plain(none) == ""


def test_downloads_that_take_long_are_told_while_they_come(monkeypatch):
    def slow(reporter):
        with reporter.downloads() as bar:
            for part in (1, 2, 3):
                monkeypatch.setattr("time.monotonic", lambda now=part * 10.0: now)
                bar.advance("a.jar", part * 1_000_000, 3_000_000)

    assert plain(slow) == "  downloading jars …\n  1 file downloaded, 3 MB\n"


def test_what_is_less_than_a_megabyte_is_not_called_none():
    def small(reporter):
        with reporter.downloads() as bar:
            bar.advance("a.pom", 2_500, 2_500)

    assert plain(small).splitlines()[-1] == "  1 file downloaded, 2 kB"
