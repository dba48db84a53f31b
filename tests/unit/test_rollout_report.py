"""The report of a rollout and its runbook: what they show, what they withstand; equal input gives equal bytes."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import rollout_sample as sample
import sample_run
import upgrade_sample

from harness.base.json import from_json, to_json
from harness.model.findings import Contrast
from harness.model.rollout import RolloutVerdict
from harness.model.runs import Outcome
from harness.report.limits import BUDGET_BYTES
from harness.report.rollout_cases import render_rehearsals
from harness.report.rolloutpage import render_rollout, rollout_page
from harness.rollout.runbook import runbook
from harness.rollout.runbook_markdown import markdown
from harness.rollout.runbook_shell import shell_script
from harness.upgrade.changes import operator_changes

GOLDEN = Path(__file__).parent / "golden" / "rollout-runbook.md"
WHOLE_GOLDEN = GOLDEN.with_name("rollout-whole-runbook.md")
SCRIPT_GOLDEN = GOLDEN.with_name("rollout-runbook.sh")
FOUND = Contrast("control", "forward-and-back", sample_run.contrasts("ship")[2].findings[:1])


def page(kind="passed", contrast=FOUND):
    journals = {"forward-and-back": sample.entries()}
    return render_rollout(sample.rollout(kind), journals, contrast, ("rollout", "--jar", "x.jar"))


def book(kind="passed"):
    return markdown(runbook(sample.rollout(kind)))


def test_the_runbook_is_the_golden_one():
    """It changes only on purpose: `python tests/unit/test_rollout_report.py` writes it anew."""
    assert book() == GOLDEN.read_text(encoding="utf-8")


def test_what_rollout_json_holds_can_be_read_again():
    found = sample.rollout("stopped")
    assert from_json(RolloutVerdict, to_json(found)) == found


def test_a_runbook_says_first_whether_to_roll():
    assert "The rehearsal passed." in book()
    assert "**Do not roll: the rehearsal did not pass.**" in book("stopped")


def test_a_runbook_without_a_way_back_that_was_rehearsed_says_so():
    assert "This was not rehearsed to its end" in book("stopped").partition("## The way back")[2]


def test_a_command_that_was_run_shows_what_it_printed_one_that_was_not_shows_nothing():
    assert "In the rehearsal it printed:\n\n      LeaderId:               1\n" in book()
    assert book().count("In the rehearsal it printed") == 2, "before and after every turn"


def test_every_check_has_its_command_and_what_is_to_be_seen():
    text = book()
    for number in range(1, 9):
        assert re.search(rf"- \*\*B{number}\*\* .*\n\n  ```sh\n  .+\n  ```\n\n  Expected: .+", text)


@pytest.mark.parametrize("kind", ["passed", "stopped"])
def test_no_text_of_a_node_is_markup_and_nothing_invisible_is_shown(kind):
    for text in (page(kind), book(kind)):
        assert "<script>alert" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_a_roll_of_another_kafka_says_first_what_breaks_for_an_operator():
    changes = operator_changes(upgrade_sample.BASE, upgrade_sample.CANDIDATE)
    shown = render_rollout(sample.rollout("passed"), {}, None, (), changes)
    assert 'href="#operator"' in shown
    assert "zookeeper.connect" in shown
    assert '<a href="upgrade/upgrade.html">All of it</a>' in shown
    assert 'id="operator"' not in page()


def test_equal_input_gives_equal_bytes():
    assert page() == page()


def test_the_page_names_turns_checks_and_losses():
    shown = rollout_page(sample.rollout(), {}, None, ())
    assert [view.found.name for view in shown.rehearsals] == ["control", "forward-and-back"]
    assert shown.rehearsals[1].slowest == "node 3, 12 s"
    assert shown.rehearsals[1].checks == 2 * (9 + 7)
    assert shown.warnings == ("a key is left",)
    assert "3 (not promised)" in page()
    assert 'id="findings"' not in page(contrast=None)


def test_the_page_names_records_that_had_no_answer():
    found = sample.rollout()
    silent = replace(sample.ORDERS, unanswered=790)
    rehearsals = tuple(replace(each, clients=(silent,)) for each in found.rehearsals)
    assert "790 unanswered" in whole_page(replace(found, rehearsals=rehearsals))
    assert "unanswered" not in whole_page(found)


def test_what_could_not_be_read_back_was_not_looked_for():
    found = sample.rollout()
    unread = replace(sample.ORDERS, unread="the read-back timed out")
    blind = replace(found.rehearsals[1], clients=(unread, sample.CLICKS))
    shown = whole_page(replace(found, rehearsals=(found.rehearsals[0], blind)))
    assert "900 were looked for at the end, 900 could not be checked." in shown
    assert "0 of 900 acknowledged lost, 900 could not be checked" in shown


def test_the_card_says_what_speaks_against_the_answer_and_the_page_what_was_noticed_and_what_was_not_rehearsed():
    found = replace(
        sample.rollout(), against="dies-on-load was not rehearsed.", not_rehearsed=("dies-on-load: Is it?",)
    )
    shown = render_rollout(found, {}, None, ("rollout", "--jar", "x.jar"))
    assert "Strongest reason against PASSED" in shown
    assert "dies-on-load was not rehearsed." in shown
    assert "<li>dies-on-load: Is it?</li>" in shown
    assert "Something acknowledged that is gone: 1,800 were looked for at the end." in shown
    assert '<code class="command">harness rollout --jar x.jar</code>' in shown


def test_a_part_of_a_rollout_of_which_there_is_nothing_has_no_section_and_no_link_to_it():
    shown = render_rollout(replace(sample.rollout(), rehearsals=()), {}, None, ("rollout",))
    for part in ("stop", "gaps", "rehearsals", "timelines", "clients", "features", "turns", "findings"):
        assert f'<section id="{part}"' not in shown
        assert f'href="#{part}"' not in shown
    for part in ("runbook", "tested", "again"):
        assert f'<section id="{part}"' in shown
        assert f'href="#{part}"' in shown


def test_a_page_about_very_many_errors_is_within_the_budget_and_says_what_it_cut():
    found = sample.rollout()
    errors = {f"ERROR {number} {'<&>' * 300}": number for number in range(3000)}
    many = replace(found, rehearsals=tuple(replace(each, errors=errors) for each in found.rehearsals))
    shown = render_rollout(many, {"forward-and-back": sample.entries()}, FOUND, ("rollout",))
    assert len(shown.encode()) <= BUDGET_BYTES
    assert re.search(r"\d+ more kinds of ERROR lines are in", shown)


def test_lines_from_outside_of_the_roll_are_not_compared():
    (inside,) = FOUND.findings
    both = replace(FOUND, findings=(inside, replace(inside, phase="", template="while settling")))
    shown = rollout_page(sample.rollout(), {}, both, ()).contrast
    assert [each.finding.template for each in shown.findings] == [inside.template]


def whole_page(found):
    return render_rollout(found, {"forward-and-back": sample.mixed()}, None, ("rollout", "--kafka", "4.3.1"))


def test_a_roll_of_whole_kafkas_names_both_and_says_what_each_turn_ran():
    shown = whole_page(sample.whole_rollout())
    assert "Kafka 3.9.2 → Kafka 4.3.1" in shown
    assert "the candidate, Kafka 4.3.1</td>" in shown
    assert "runs Kafka 3.9.2</li>" in shown


def test_the_timeline_shows_whose_jars_a_node_was_seen_to_run_and_none_where_all_ran_the_same():
    shown = whole_page(sample.whole_rollout())
    assert shown.count('class="runs base"') == 2
    assert shown.count('class="runs candidate"') == 1
    assert "node 0 runs the candidate&#39;s jars" in shown
    assert 'class="runs' not in page()


def test_the_page_says_what_going_back_means_and_what_the_commands_printed_with_nothing_of_it_markup():
    shown = whole_page(sample.whole_rollout())
    for words in (
        *sample.FEATURES.told,
        "3.9-IV0 (21)",
        "metadata.version was upgraded to 30.",
        "exit 1, as predicted",
    ):
        assert words in shown
    assert "Nodes restarted after that: 1." in shown
    assert "--bootstrap-server &#34;$BROKERS&#34; upgrade" in shown
    assert "<script>alert" not in shown
    assert "It was not rehearsed to its end." in whole_page(sample.whole_rollout(rehearsed=False))


@pytest.mark.parametrize("odd", ["{x}", "{config:>999999999}", "{0}", "{"])
def test_a_command_of_somebody_elses_record_is_text_and_no_template(odd):
    found = sample.whole_rollout()

    def with_odd(rehearsed):
        commands = (replace(each, command=f"{each.command} {odd}") for each in rehearsed.commands)
        return replace(rehearsed, commands=tuple(commands))

    shown = whole_page(replace(found, rehearsals=tuple(map(with_odd, found.rehearsals))))
    assert odd.replace(">", "&gt;") in shown


def vendors_rollout(**jars):
    """Return a rollout of Apache's 3.9.2 to a vendor's, in which these jars are others."""
    found = sample.whole_rollout()
    base = found.base.build
    kafka = replace(base.kafka, place="/dist/acme.tgz", jars={**base.kafka.jars, **jars})
    build = replace(base, kafka=kafka, jar_sha256=kafka.jars[kafka.raft_jar])
    return replace(found, candidate=replace(found.candidate, build=build))


def test_kafkas_with_one_raft_jar_are_told_apart_by_another_of_their_modules():
    found = vendors_rollout(**{"kafka-clients-3.9.2.jar": "a" * 64, "acme-metrics-1.jar": "b" * 64})
    book = runbook(found)
    assert (book.swap.base_sha256, book.swap.candidate_sha256) == ("2" * 64, "a" * 64)
    script, text = shell_script(book), markdown(book)
    assert "*/kafka-clients-[0-9]*.jar*) sha256sum" in script
    assert "NEW_SHA256=" + "a" * 64 in script.replace("'", "")
    assert f"sha256sum /opt/kafka-3.9.2-new/libs/kafka-clients-3.9.2.jar   # {'a' * 64}" in text
    assert "cp " not in text.partition("Before the first turn")[2].partition("```sh")[2].partition("```")[0]


def test_a_jar_whose_name_could_end_a_word_of_the_script_tells_nothing_apart():
    hostile = "kafka-$(touch x)'-3.9.2.jar"
    found = vendors_rollout(**{hostile: "a" * 64})
    assert runbook(found).swap.candidate_jar == "kafka-raft-3.9.2.jar"
    assert "$(touch" not in shell_script(runbook(found))


def test_a_whole_kafka_with_a_raft_jar_of_its_own_gets_that_one_before_the_first_turn():
    found = sample.whole_rollout()
    build = replace(found.candidate.build, jar="/jars/it's new.jar", jar_sha256="d" * 64)
    text = markdown(runbook(replace(found, candidate=replace(found.candidate, build=build))))
    libs = "/opt/kafka-4.3.1/libs"
    new, placed = "'it'\"'\"'s new.jar'", f"{libs}/kafka-raft-4.3.1.jar"
    assert f"cp {new} {placed}.next && rm {libs}/kafka-raft-[0-9]*.jar && mv {placed}.next {placed}\n" in text
    assert f"sha256sum {libs}/kafka-raft-4.3.1.jar   # {'d' * 64}" in text


def test_the_notes_for_an_upgrade_are_asked_of_the_very_kafkas_that_were_named():
    found = sample.whole_rollout()
    kafka = replace(found.candidate.build.kafka, place="/vendor/their kafka.tgz")
    candidate = replace(found.candidate, build=replace(found.candidate.build, kafka=kafka))
    text = markdown(runbook(replace(found, candidate=candidate)))
    assert "`harness upgrade-notes 3.9.2 '/vendor/their kafka.tgz' --mine FILE`" in text


def test_the_runbook_of_whole_kafkas_is_the_golden_one():
    """It changes only on purpose: `python tests/unit/test_rollout_report.py` writes it anew."""
    assert markdown(runbook(sample.whole_rollout())) == WHOLE_GOLDEN.read_text(encoding="utf-8")


def test_a_runbook_checks_topic_ids_first_where_a_cluster_may_have_had_zookeeper():
    found = sample.rollout()
    text = markdown(runbook(found))
    assert text.index("## Topic ids, once before the first turn") < text.index("## Checks B")
    assert "harness topic-ids check --config server.properties --merge broker-N.jsonl" in text
    assert "topic-ids" not in markdown(runbook(replace(found, knows_zookeeper=False)))


def test_a_kafka_of_the_very_version_that_it_replaces_lies_in_a_folder_of_its_own():
    found = sample.whole_rollout()
    build = replace(found.candidate.build, kafka_version="3.9.2")
    text = markdown(runbook(replace(found, candidate=replace(found.candidate, build=build))))
    assert "ln -sfn /opt/kafka-3.9.2-new /opt/kafka" in text
    assert "ln -sfn /opt/kafka-3.9.2-base /opt/kafka" in text


def test_what_was_not_finalised_in_the_rehearsal_is_said_in_the_runbook():
    book = markdown(runbook(sample.whole_rollout(rehearsed=False)))
    assert book.partition("## Finalise")[2].count("This was not rehearsed.") == 2


def test_what_stopped_is_open_and_shows_the_line_that_says_why():
    shown = rollout_page(sample.rollout("stopped"), {}, None, ())
    (quote,) = shown.rehearsals[1].quotes
    assert quote.link.href == "runs/forward-and-back/roll/1/nodes/3/server.log"
    assert [run.name for run in shown.pictures.shown] == ["forward-and-back"]
    assert (shown.stop.rehearsal, shown.stop.turn.node) == ("forward-and-back", 3)
    assert shown.stop.quotes == (quote,)


def cases(found):
    """Return the only suite of a rollout's JUnit XML and its cases by name."""
    (suite,) = ET.fromstring(render_rehearsals(found))
    return suite, {case.get("name"): case for case in suite}


def test_junit_has_one_suite_with_a_case_per_rehearsal():
    suite, by_name = cases(sample.rollout())
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("rollout", "2", "0")
    assert list(by_name) == ["control", "forward-and-back"]
    assert {case.findtext("system-out") for case in by_name.values()} == {"PASSED"}


def test_junit_fails_the_rehearsal_that_stopped_and_names_the_node_and_the_evidence():
    suite, by_name = cases(sample.rollout("stopped"))
    failure = by_name["forward-and-back"].find("failure")
    assert suite.get("failures") == "1"
    assert failure.get("message").startswith("FAILED(node_alive): ")
    assert failure.text.startswith("node 3 (broker) in “forward”: ")
    assert failure.text.endswith("see runs/forward-and-back/roll/1/nodes/3/server.log:7")


def test_junit_has_an_error_where_a_rehearsal_says_nothing_and_a_skip_where_the_host_cannot():
    found = sample.rollout()
    for outcome, tag in ((Outcome.INCONCLUSIVE, "error"), (Outcome.BROKEN, "error"), (Outcome.UNSUPPORTED, "skipped")):
        undecided = sample.rehearsal("killed-in-step", (), (), outcome, "no leader")
        _, by_name = cases(replace(found, rehearsals=(undecided,)))
        assert by_name["killed-in-step"].find(tag).get("message") == f"{outcome}: no leader"


def test_junit_passes_a_stop_that_a_rehearsal_is_there_to_see_and_calls_it_an_expected_failure():
    stopped = sample.rehearsal("dies-on-load", (sample.turn(1, "forward", 3, stopped="node 3 crashed"),), ())
    _, by_name = cases(replace(sample.rollout(), rehearsals=(stopped,)))
    message = by_name["dies-on-load"].findtext("system-out")
    assert message == "PASSED; expected failure: node 3 (broker) in “forward”: node 3 crashed"


if __name__ == "__main__":
    GOLDEN.write_text(book(), encoding="utf-8")
    WHOLE_GOLDEN.write_text(markdown(runbook(sample.whole_rollout())), encoding="utf-8")
    SCRIPT_GOLDEN.write_text(shell_script(runbook(sample.secured_rollout())), encoding="utf-8")
