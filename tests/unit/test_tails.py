"""Logs are read in bounded memory, however they are flooded."""

import tracemalloc

from harness.base.tails import LINE_BYTES, beginnings, ended_lines, tail


def test_every_line_is_given_with_its_number(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"one\r\ntwo\n\nfour")
    assert list(beginnings(path)) == [(1, b"one"), (2, b"two"), (3, b""), (4, b"four")]
    assert tail(path) == (4, [b"one", b"two", b"", b"four"])


def test_of_a_long_line_only_the_beginning_is_given(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * 3_000_000 + b"\nnext\n")
    assert list(beginnings(path)) == [(1, b"x" * LINE_BYTES), (2, b"next")]


def test_the_end_of_a_file_is_read_and_all_its_lines_are_counted(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"line %d\n" % each for each in range(1000)))
    count, lines = tail(path, 100)
    assert (count, lines[-1]) == (1000, b"line 999")
    assert 5 < len(lines) < 15
    assert lines[0].startswith(b"line ")


def test_an_empty_file_has_no_lines(tmp_path):
    path = tmp_path / "log"
    path.touch()
    assert (list(beginnings(path)), tail(path)) == ([], (0, []))


def test_a_line_that_is_larger_than_memory_does_not_get_into_it(tmp_path):
    path = tmp_path / "log"
    with path.open("wb") as stream:
        stream.truncate(100 * 2**20)
    tracemalloc.start()
    try:
        assert [len(line) for _, line in beginnings(path)] == [LINE_BYTES]
        assert tail(path)[0] == 1
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


def test_where_a_line_ends_is_told_once_it_has_an_end(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"one\ntwo is cut\nthree has no e")

    assert list(ended_lines(log, most=6)) == [(4, b"one\n"), (15, b"two is")]
    assert list(ended_lines(log, start=4, most=100)) == [(15, b"two is cut\n")]
