"""What was not read of logs: each with its own reason."""

from harness.model.log_totals import Totals


def test_of_logs_whose_names_begin_alike_each_has_its_own_reason():
    said = ("a/server.log.1 was not read: it is empty.", "a/server.log: what follows line 7 was not read.")
    both = "b.log.gz, c.log.gz were not read: their container has another beside it."
    logs = ("a/server.log.1", "a/server.log", "a/other.log", "c.log.gz")
    totals = Totals(1, (), (*said, both), logs)
    assert dict(totals.not_whole) == {
        "a/server.log.1": said[0],
        "a/server.log": said[1],
        "a/other.log": "a/other.log was not read.",
        "c.log.gz": both,
    }
