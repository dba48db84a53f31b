"""Log statements of two Kafkas: which lines an alert waits for in vain."""

from hypothesis import given
from hypothesis import strategies as st
from upgrade_sample import logged

from harness.model.operator_changes import Weight
from harness.upgrade.log_changes import log_changes

TEXT = "Stopping serving replicas in dir {}"


def test_a_line_that_is_gone_breaks_an_alert_and_an_info_line_only_changes():
    (gone,) = log_changes((logged(TEXT, "ERROR"),), ())
    assert (gone.weight, gone.subject, gone.base, gone.where) == (
        Weight.BREAKS,
        TEXT,
        "ERROR",
        "kafka.server.ReplicaManager",
    )
    assert [each.weight for each in log_changes((logged(TEXT, "INFO"),), ())] == [Weight.CHANGES]
    assert log_changes((logged(TEXT, "DEBUG"),), ()) == ()


def test_a_line_of_other_words_in_the_same_class_is_the_same_line_reworded():
    (change,) = log_changes((logged(TEXT),), (logged("Stopping serving of replicas in directory {}"),))
    assert (change.weight, change.candidate) == (Weight.BREAKS, "WARN Stopping serving of replicas in directory {}")


def test_other_words_in_another_class_are_another_line():
    gone, new = log_changes((logged(TEXT),), (logged("Stopping serving of replicas in directory {}", owner="Other"),))
    assert (gone.candidate, new.weight) == ("", Weight.ADDS)


def test_each_new_line_is_the_rewording_of_one_old_line_at_most():
    old = (logged("Stopping serving replicas in dir {}"), logged("Stopping serving replicas in dir {} now"))
    changes = log_changes(old, (logged("Stopping serving replicas in dirs {} now"),))
    assert sorted(bool(each.candidate) for each in changes) == [False, True]


def test_a_statement_that_moved_to_another_class_is_no_change():
    assert log_changes((logged(TEXT),), (logged(TEXT, owner="LogManager"),)) == ()


def test_an_alarm_that_is_gone_is_told_although_another_class_logs_the_same_words_at_another_level():
    old = (logged(TEXT, "ERROR", "ClassA"), logged(TEXT, "DEBUG", "ClassB"))
    told = {(each.base, each.candidate): each.weight for each in log_changes(old, (logged(TEXT, "INFO", "ClassB"),))}
    assert told == {("DEBUG", "INFO"): Weight.CHANGES, ("ERROR", "INFO"): Weight.BREAKS}
    old = (logged(TEXT, "INFO", "ClassA"), logged(TEXT, "ERROR", "ClassB"))
    told = {(each.base, each.candidate): each.weight for each in log_changes(old, (logged(TEXT, "WARN", "ClassA"),))}
    assert told == {("INFO", "WARN"): Weight.CHANGES, ("ERROR", "WARN"): Weight.BREAKS}


def test_an_alarm_that_a_class_has_still_is_told_once():
    old, new = (tuple(logged(TEXT, level, "ClassA") for level in (each,)) for each in ("ERROR", "WARN"))
    (change,) = log_changes((*old, logged(TEXT, "INFO", "ClassB")), (*new, logged(TEXT, "INFO", "ClassB")))
    assert (change.base, change.candidate) == ("ERROR", "WARN")


def test_a_milder_level_breaks_an_alert_on_the_old_one_and_a_worse_one_sets_alerts_off():
    (milder,) = log_changes((logged(TEXT, "ERROR"),), (logged(TEXT, "INFO"),))
    (quiet,) = log_changes((logged(TEXT, "WARN"),), (logged(TEXT, "DEBUG"),))
    (worse,) = log_changes((logged(TEXT, "INFO"),), (logged(TEXT, "ERROR"),))
    assert (milder.weight, quiet.weight, worse.weight) == (Weight.BREAKS, Weight.BREAKS, Weight.CHANGES)
    assert (worse.base, worse.candidate) == ("INFO", "ERROR")


def test_a_text_that_another_class_logs_at_another_level_says_so():
    (change,) = log_changes((logged(TEXT, "ERROR"),), (logged(TEXT, "WARN", owner="LogManager"),))
    assert "Another class logs it now: LogManager." in change.means


def test_a_level_that_changes_in_one_class_is_told_though_another_logs_the_same_text_at_a_worse_one():
    worse = logged(TEXT, "WARN", owner="LogManager")
    (louder,) = log_changes((logged(TEXT, "DEBUG"), worse), (logged(TEXT, "WARN"), worse))
    (milder,) = log_changes((logged(TEXT, "WARN"), worse), (logged(TEXT, "INFO"), worse))
    assert [(each.base, each.candidate) for each in (louder, milder)] == [("DEBUG", "WARN"), ("WARN", "INFO")]
    assert milder.weight is Weight.BREAKS


def test_a_text_that_the_class_which_alerts_see_logs_no_more_has_become_milder():
    kept = logged(TEXT, "INFO", owner="LogManager")
    (change,) = log_changes((logged(TEXT, "ERROR"), kept), (kept,))
    assert (change.weight, change.base, change.candidate) == (Weight.BREAKS, "ERROR", "INFO")


def test_a_text_of_values_alone_is_nothing_that_an_alert_could_match():
    assert log_changes((logged("{}: {}", "ERROR"),), ()) == ()


statements = st.lists(
    st.builds(
        logged,
        st.sampled_from(
            ["Shutting down broker {}", "Shutting down the broker {}", "Failed to fetch {}", "Failed fetch of {}"]
        ),
        st.sampled_from(["DEBUG", "INFO", "WARN", "ERROR"]),
        st.sampled_from(["A", "B"]),
    )
)


@given(statements)
def test_nothing_changes_between_a_kafka_and_itself(listed):
    assert log_changes(listed, listed) == ()


@given(statements, statements)
def test_every_text_that_only_one_kafka_writes_is_told_once(one, other):
    told = [each.subject for each in log_changes(one, other)]
    gone = {each.text for each in one if each.level != "DEBUG"} - {each.text for each in other}
    assert gone <= set(told)
    of_one = [text for text in told if not all(text in {each.text for each in kafka} for kafka in (one, other))]
    assert len(of_one) == len(set(of_one))
