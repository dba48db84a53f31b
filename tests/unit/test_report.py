"""The report: what it shows, what it withstands, and that equal input gives equal bytes."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sample_run
from markupsafe import escape

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.base.paths import data_root
from harness.base.text import cut, visible
from harness.judge.decision import decide
from harness.judge.rerun import rerun_command
from harness.model.arms import Role
from harness.model.candidate_kind import CandidateKind
from harness.model.events import NodeChanged, PhaseStarted, StepChanged
from harness.model.findings import Contrast
from harness.model.options import record_of
from harness.model.proof import ReachedMethod
from harness.model.request import Request
from harness.model.runs import Evidence, Outcome, RunResult, Verdict
from harness.model.sparklines import Sparkline, Sparklines
from harness.model.verdict import Check, FileDigest, Reason, ReasonSource, VerdictRecord
from harness.model.verdict_schema import check_record
from harness.report import write_reports
from harness.report.context import report_context
from harness.report.differences import meaning_of, proving_phases_first
from harness.report.figures import inline_figures
from harness.report.html import render_html
from harness.report.limits import BUDGET_BYTES, Limits
from harness.report.links import evidence_link
from harness.report.markdown import render_markdown
from harness.report.page import render_page
from harness.report.result_matrix import CellView
from harness.report.run_cases import render_runs
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import Entry
from harness.stages.judge import judge_run

GOLDEN = Path(__file__).parent / "golden"


def document(kind: str = "ship") -> VerdictRecord:
    results = [result for result, _ in sample_run.results(kind)]
    return decide(
        sample_run.declaration(),
        results,
        sample_run.proof(kind),
        sample_run.contrasts(kind),
        coverage=sample_run.coverage(kind),
        logged=sample_run.LOGGED,
    )


def judged(run_dir: Path) -> VerdictRecord:
    return judge_run(RunDirectory(run_dir))


def journals(kind: str = "ship"):
    return {result.key.folder: events for result, events in sample_run.results(kind)}


def shown_context(kind: str) -> str:
    return to_json(report_context(document(kind), journals(kind), Limits(timelines=2)))


@pytest.mark.parametrize("kind", ["ship", "hold"])
def test_the_context_is_the_golden_one(kind: str) -> None:
    """What the report shows changes only on purpose: `python tests/unit/test_report.py` writes the goldens anew."""
    assert shown_context(kind) == (GOLDEN / f"report-{kind}.json").read_text(encoding="utf-8")


def test_a_run_directory_is_judged_and_reported_and_can_be_reported_again(tmp_path: Path) -> None:
    run_dir = sample_run.write_sample(tmp_path)
    directory = RunDirectory(run_dir)
    page = write_reports(directory, judge_run(directory))
    first = {p.name: p.read_bytes() for p in run_dir.iterdir() if p.is_file()}
    assert page == run_dir / "report.html"
    assert {"verdict.json", "report.html", "junit.xml", "summary.md", "run.json"} == first.keys()
    write_reports(directory, directory.verdict.read())
    assert first == {p.name: p.read_bytes() for p in run_dir.iterdir() if p.is_file()}


def test_the_verdict_is_the_first_thing_said_with_the_strongest_reason_against_it() -> None:
    text = re.sub(r"<[^>]+>", " ", render_html(document("hold"), journals("hold")).split("<main>")[1])
    assert re.match(r"\s*✕\s+HOLD\s+Not a drop-in: config-default", text)
    assert "Nothing speaks against the candidate in new-mechanism and turn1" in text[:1500]


def test_what_is_not_fixed_is_one_sentence_on_the_first_screen_and_in_the_summary_and_nothing_of_it_elsewhere() -> None:
    left = tuple(f"{name}: patched-on fails it, as stock does." for name in ("turn1", "turn2"))
    record = replace(document("ship"), not_fixed=left)
    said = "2 of 3 scenarios fail with the candidate as they do without it (turn1 and turn2)."
    card = render_html(record, journals()).split("</section>")[0]
    open_, folded = card.split("<details", 1)
    assert said in open_
    assert not any(each in open_ for each in left)
    assert f'<li>{left[1]} <a href="#scenario-turn2">Row turn2</a></li>' in folded
    assert f"**Not fixed:** {said}\n\n- turn1: patched-on" in render_markdown(report_context(record, {}))
    nothing = replace(record, not_fixed=())
    assert "Not fixed" not in render_html(nothing, journals()) + render_markdown(report_context(nothing, {}))


def test_one_thing_that_is_not_fixed_stands_on_the_card_whole_with_nothing_to_unfold() -> None:
    left = "turn1: patched-on fails it, as stock does."
    card = render_html(replace(document("ship"), not_fixed=(left,)), journals()).split("</section>")[0]
    assert left in card.split("<details")[0]
    assert "What exactly" not in card


def test_what_the_source_lacks_leads_to_the_line_that_shows_it() -> None:
    record = document("hold")
    place = Evidence("builds/patched/sources/raft/Client.java", 7)
    audit = tuple(replace(each, evidence=(place,)) for each in record.proof.audit)
    card = render_html(replace(record, proof=replace(record.proof, audit=audit)), journals("hold")).split("</section>")[
        0
    ]
    link = '<a href="builds/patched/sources/raft/Client.java">Client.java:7</a>'
    assert f"<li>refresh-after-truncation: truncateNewEntries does not refresh. {link}</li>" in card


class Page(HTMLParser):
    """Collects what a browser would act upon."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.tags if name in attrs]


@pytest.mark.parametrize("kind", ["ship", "hostile"])
def test_the_page_runs_no_script_but_its_own_filters_and_reaches_no_network(kind: str) -> None:
    html = render_html(document(kind), journals(kind))
    page = Page(html)
    names = {tag for tag, _ in page.tags}
    own = (data_root() / "reports/scripts/filter.js").read_bytes()
    known_by = base64.b64encode(hashlib.sha256(own).digest()).decode()
    assert [attrs for tag, attrs in page.tags if tag == "script"] == [{}]
    assert not names & {"img", "link", "iframe", "object", "form"}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on") or name == "style"]
    assert not page.all("src")
    assert not [href for href in page.all("href") if ":" in href or href.startswith("/")]
    policy = next(attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert f"script-src 'sha256-{known_by}';" in policy
    assert f"<script>{own.decode()}</script>" in html


def test_nothing_from_a_log_acts_on_the_page_or_hides_in_it() -> None:
    page = render_html(document("hostile"), journals("hostile"))
    assert page.count("<script") == 1
    assert "&lt;script&gt;alert" in page
    assert r"\x1b[31mred" in page
    assert r"\u202etxt.exe" in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "A" * 1000 not in page
    assert "more characters)" in page


NASTY = "\x1b[2J \x85\x1c \u202egpj.exe\u2066 ]]> --> </title><b onclick=x> & &lt;i&gt; | `x` \x00"
WRITTEN_OUT = r"\x1b[2J \x85\x1c \u202egpj.exe\u2066 ]]> --> </title><b onclick=x> & &lt;i&gt; | `x` \x00"


def nasty_run() -> VerdictRecord:
    """A run directory in which everything that comes from a node or a user's path is hostile."""
    arms = tuple(replace(arm, java=NASTY, build=replace(arm.build, builder=NASTY)) for arm in sample_run.ARMS)
    declaration = replace(sample_run.declaration(), arms=arms, argv=("verify", "--jar", NASTY), host={"system": NASTY})
    evidence = (Evidence(f"runs/turn2/stock/1/nodes/3/{NASTY}", 9, NASTY),)
    shown = [(Outcome.FAILED, "node_alive"), (Outcome.BROKEN, ""), (Outcome.INCONCLUSIVE, NASTY)]
    results = [
        RunResult(s, arm.name, arm.role, 1, outcome, name, NASTY, evidence, 1.0, {f"{NASTY}_seconds": 1.0})
        for s, (outcome, name) in zip(sample_run.QUESTIONS, shown, strict=True)
        for arm in arms
    ]
    return decide(declaration, results, sample_run.proof("hostile"))


def test_a_hostile_reason_is_written_out_on_the_page_in_junit_and_in_the_summary() -> None:
    shown = nasty_run()
    events = [
        Entry(1, 0.1, "", PhaseStarted(NASTY)),
        Entry(2, 0.2, "", StepChanged("guard", NASTY, "unmet", detail=NASTY)),
        Entry(3, 0.3, "", NodeChanged(1, NASTY)),
    ]
    page = render_html(shown, {run.key.folder: events for run in shown.runs})
    junit, summary = render_runs(shown), render_markdown(report_context(shown, {}))
    for output in (page, junit, summary):
        assert visible(output) == output
    assert str(escape(WRITTEN_OUT)) in page
    assert "</title><b" not in page
    assert "]]>" not in junit
    cases = list(ET.fromstring(junit).iter("testcase"))
    assert [case[0].get("message") for case in cases[3:6]] == [f"BROKEN: {WRITTEN_OUT}"] * 3
    literally = re.sub(r"\\([\\`*_\[\]<>|#~&])", r"\1", summary)
    assert WRITTEN_OUT in literally
    assert not re.search(r"(?<!\\)[<>&]", summary)


def test_ids_are_unique_links_inside_the_page_lead_somewhere_and_headings_are_in_order() -> None:
    page = Page(render_html(document(), journals()))
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    assert {href[1:] for href in page.all("href") if href.startswith("#")} <= set(ids)
    assert set(" ".join(page.all("aria-labelledby")).split()) <= set(ids)
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))


def test_every_table_has_a_caption_and_scrolls_in_its_own_box() -> None:
    page = [tag for tag, _ in Page(render_html(document(), journals())).tags]
    followers = [page[i + 1] for i, tag in enumerate(page) if tag == "table"]
    before = [page[i - 1] for i, tag in enumerate(page) if tag == "table"]
    assert len(followers) > 15
    assert {*followers} == {"caption"}
    assert {*before} == {"div"}


def test_the_proof_shows_the_broken_rule_the_failed_test_with_whose_it_is_and_the_gap_in_the_source() -> None:
    text = re.sub(r"<[^>]+>", " ", render_html(document("hold"), journals("hold")))
    text = " ".join(text[text.index("Proof of the jar") :].split())
    assert "Drop-in check failed: 3 reasons." in text
    assert "201 tests, 1 failed" in text
    assert "fail config-default The default of" in text
    assert "KafkaRaftClientTest.testVote() (base passes it)" in text
    assert "– gap refresh-after-truncation truncateNewEntries does not refresh." in text


def test_the_proof_shows_a_seed_that_fails_with_its_log_and_the_command_that_runs_it_again() -> None:
    page = render_html(document("hold"), journals("hold"))
    text = " ".join(re.sub(r"<[^>]+>", " ", page[page.index("Simulations on this jar") :]).split())
    assert "240 simulations of 2 properties in 60 s, 1 failed." in text
    assert "RaftEventSimulationTest#canElectLeader with seed 7 [5, 3] (base passes it) two leaders of epoch 3" in text
    assert "Again: harness simulate RUN_DIR --property RaftEventSimulationTest#canElectLeader --seed 7" in text
    assert 'href="proof/patched/simulation/elect-7.log"' in page


@pytest.mark.parametrize("named", ["javascript:alert(1)", "https://example.org/x", "/etc/passwd", "../../x"])
def test_what_a_record_names_as_a_file_is_one_of_the_folder(named: str) -> None:
    record = document("hold")
    assert record.proof is not None
    assert record.proof.simulation is not None
    failed = tuple(replace(each, log=named) for each in record.proof.simulation.failed)
    simulation = replace(record.proof.simulation, failed=failed)
    proof = replace(record.proof, simulation=simulation, tests=replace(record.proof.tests, report=named))
    links = Page(render_html(replace(record, proof=proof), journals("hold"))).all("href")
    assert not [href for href in links if ":" in href or href.startswith(("/", ".."))]


def test_changed_lines_that_nothing_ran_are_listed_before_those_that_ran() -> None:
    reach = report_context(document(), journals()).reach
    assert reach is not None
    assert reach.summary == "2 of 3 changed lines were run, in 1 of 1 changed methods."
    assert [(line.place, line.ran) for line in reach.unreached] == [("KafkaRaftClient.java:461", "")]
    assert [line.ran for line in reach.reached] == ["new-mechanism, turn2", "turn2"]


def test_a_claim_shows_what_the_source_says_of_it() -> None:
    page = render_html(document(), journals())
    claims = page[page.index('id="claims"') : page.index('id="tested"')]
    assert "refresh-after-append: holds." in claims
    assert 'href="builds/patched/sources/raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java"' in claims


def test_a_claim_that_only_source_and_tests_settle_is_reported_without_a_scenario() -> None:
    held, untested, only_source = report_context(document("ship"), journals()).claims
    assert (only_source.id, only_source.status, only_source.scenario) == ("list-is-read-once", "untested", "")
    assert only_source.why == "There are no sources."
    assert (held.status, held.tests[0].standing, untested.tests) == ("held", "passed", ())


def test_a_claim_whose_test_fails_is_refuted_by_it() -> None:
    refuted = report_context(document("hold"), journals("hold")).claims[0]
    assert (refuted.status, refuted.why) == ("refuted", "The test ClientTest#asksTheVoters fails.")


def test_the_line_that_a_claim_expects_is_quoted_from_a_log_of_the_on_arm(tmp_path: Path) -> None:
    claims = judged(sample_run.write_sample(tmp_path)).claims
    assert claims[0].expected_log == "Updated bootstrap servers"
    assert claims[0].logged == Evidence("runs/turn2/patched-on/1/nodes/3/server.log", 1, sample_run.UPDATE)
    assert (claims[1].expected_log, claims[1].logged) == ("", None)


def test_a_claims_line_that_is_logged_with_the_flag_off_is_linked_and_its_scenario_says_so(tmp_path: Path) -> None:
    log = "runs/turn2/patched-off/1/nodes/3/server.log"
    folder = sample_run.write_sample(tmp_path)
    assert "The same with the flag off" not in render_html(judged(folder), journals())
    (folder / log).write_text(f"{sample_run.UPDATE}\n")
    record = judged(folder)
    page = render_html(record, journals())
    claims = page[page.index('id="claims"') : page.index('id="tested"')]
    assert record.verdict is Verdict.HOLD
    assert f"The same with the flag off</dt><dd><q>{sample_run.UPDATE[:20]}" in claims
    assert f'href="{log}' in claims
    assert [each.means for each in report_context(record, journals()).inertness if each.scenario == "turn2"] == [
        "not inert by its logs"
    ]


def test_an_expected_line_that_no_log_has_is_said_to_be_missing() -> None:
    record = document()
    unlogged = replace(record, claims=tuple(replace(claim, logged=None) for claim in record.claims))
    assert "none matches <code>Updated bootstrap servers</code>" in render_html(unlogged, journals())


def test_changed_methods_are_listed_with_the_scenarios_that_ran_them_and_first_those_that_none_ran() -> None:
    coverage = sample_run.coverage("ship")
    close = ReachedMethod("org/apache/kafka/raft/KafkaRaftClient", "close", "()V", ())
    more = replace(coverage, methods=(*coverage.methods, close))
    page = render_html(replace(document(), coverage=more), journals())
    rows = re.findall(r'<th scope="row"><code>(KafkaRaftClient\.\w+)</code></th><td>([^<]*)</td>', page)
    assert rows == [
        ("KafkaRaftClient.close", "no scenario"),
        ("KafkaRaftClient.maybeUpdateBootstrapServers", "new-mechanism, turn2"),
    ]


def test_a_base_with_its_flag_off_is_an_arm_of_the_matrix_and_what_off_is_compared_with() -> None:
    declaration, arms = sample_run.declaration(), sample_run.ARMS
    older = replace(sample_run.PATCHED, name="base")
    base = replace(arms[0], name="base", build=older, flag="true")
    base_off = replace(base, name="base-off", role=Role.BASE_OFF, flag="false")
    ran = [result for result, _ in sample_run.results("ship")]
    of_base = [replace(r, arm="base", outcome=Outcome.PASSED, expectation="") for r in ran if r.role is Role.BASE]
    without = [replace(r, arm="base-off", role=Role.BASE_OFF) for r in ran if r.role is Role.BASE]
    rest = [r for r in ran if r.role is not Role.BASE]
    four = replace(declaration, arms=(base, base_off, *arms[1:]))
    record = decide(four, [*of_base, *without, *rest], sample_run.proof("ship"), logged=sample_run.LOGGED)
    shown = report_context(record, {})
    assert record.verdict is Verdict.SHIP
    turn2 = next(row for row in shown.rows if row.name == "turn2")
    assert [(cell.arm, cell.state, cell.standing) for cell in turn2.cells if cell] == [
        ("base", "PASSED", "no claim"),
        ("base-off", "FAILED", "expected failure"),
        ("patched-off", "FAILED", "expected failure"),
        ("patched-on", "PASSED", "as claimed"),
    ]
    assert [(row.scenario, row.base, row.off) for row in shown.inertness][-1] == (
        "turn2",
        "FAILED(observer_recovers)",
        "FAILED(observer_recovers)",
    )
    assert "turn2[base-off-1]" in render_runs(record)
    assert (
        meaning_of(record, Contrast("base-off", "patched-off", ())) == "what the jar logs differently with its flag off"
    )


def test_without_a_candidate_the_page_says_whether_kafka_is_as_expected_and_no_more(
    tmp_path: Path,
) -> None:
    directory = RunDirectory(sample_run.write_sample(tmp_path))
    declared = directory.declaration.read()
    expected = {"new-mechanism": "FAILED(observer_recovers)", "turn1": "PASSED", "turn2": "PASSED"}
    scenarios = tuple(replace(each, expected=expected[each.name]) for each in declared.scenarios)
    directory.declaration.write(replace(declared, arms=declared.arms[:1], claims=(), scenarios=scenarios))
    page = write_reports(directory, judge_run(directory)).read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", " ", page.split("<main>")[1]).split())
    assert text.startswith("✕ UNEXPECTED 2 of 3 cells show what is expected of stock. There is no candidate.")
    assert re.search(r"turn2 on stock: FAILED\(observer_recovers\), not PASSED: UNEXPECTED", text)
    assert "not as expected, 1 of 1" in text
    for word in ("SHIP", "HOLD", "INCONCLUSIVE", "no evidence", 'href="#proof"'):
        assert word not in page.split("<main>")[1].split("<script>")[0]


@pytest.mark.parametrize(
    ("kind", "claimed", "question"),
    [
        (CandidateKind.SERIES, True, "Does the series do what it claims, and is anything worse?"),
        (CandidateKind.CLAIMED, True, "Does the jar do what its claims file says, and is anything worse?"),
        (CandidateKind.UNKNOWN, False, "Is anything worse? The jar matches no known series and comes without claims."),
        (CandidateKind.SERIES, False, "Is anything worse? Nothing is claimed."),
    ],
)
def test_the_page_says_what_was_asked_of_the_candidate(kind, claimed, question) -> None:
    record = document()
    page = render_html(replace(record, kind=kind, claims=record.claims if claimed else ()), journals())
    assert f"<dt>Question</dt><dd>{question}</dd>" in page


def test_a_jar_that_was_not_proved_says_so() -> None:
    page = render_html(replace(document(), proof=None, coverage=None), journals())
    assert "was not run on it" in page
    assert "No run measured which changed lines are reached." in page


def test_the_evidence_index_lists_every_file_that_was_judged_with_its_digest(tmp_path: Path) -> None:
    run_dir = sample_run.write_sample(tmp_path)
    listed = {file.path: file for file in judged(run_dir).evidence}
    journal = run_dir / "runs/turn2/stock/1/journal.jsonl"
    assert listed["runs/turn2/stock/1/journal.jsonl"] == FileDigest(
        "runs/turn2/stock/1/journal.jsonl",
        journal.stat().st_size,
        hashlib.sha256(journal.read_bytes()).hexdigest(),
    )
    assert {"run.json", "proof/patched/proof.json", "logs/findings.json"} <= listed.keys()
    assert "verdict.json" not in listed


def test_the_flag_is_called_inert_per_scenario_and_not_at_all_without_an_off_arm() -> None:
    rows = report_context(document(), journals()).inertness
    assert [(row.scenario, row.base, row.off, row.means) for row in rows][1] == ("turn1", "PASSED", "PASSED", "inert")


def test_a_waived_difference_is_reported_with_its_waiver() -> None:
    shown = document()
    waived = replace(shown.proof.differences[0], waived="agreed (Ann, until 2027-01-01)")
    page = render_html(replace(shown, proof=replace(shown.proof, differences=(waived,))), journals())
    assert "agreed (Ann, until 2027-01-01)" in page[page.index('id="waivers"') :]


def test_every_cell_links_to_its_journal_and_can_be_run_again() -> None:
    page = render_html(document(), journals())
    for scenario in sample_run.QUESTIONS:
        for arm in sample_run.ARMS:
            assert f'href="runs/{scenario}/{arm.name}/1/journal.jsonl"' in page
            assert f"harness verify --arms {arm.name} --scenario {scenario} --jobs 3" in page


def cell_of(shown: VerdictRecord, scenario: str, arm: str) -> CellView:
    row = next(row for row in report_context(shown, {}).rows if row.name == scenario)
    return next(cell for cell in row.cells if cell and cell.arm == arm)


def test_a_cell_shows_the_figures_that_matter() -> None:
    held = cell_of(document(), "turn2", "patched-on")
    lost = cell_of(document(), "turn2", "stock")
    always = ("longest stall 1.3 s", "0 of 412 acked writes lost")
    assert held.figures == ("observer recovers 0.5 s", *always)
    assert lost.figures == always
    assert " · ".join(f"<span>{figure}</span>" for figure in held.figures) in render_html(document(), {})


def test_figures_of_repeats_are_reported_as_a_span_and_records_are_summed() -> None:
    runs = [
        {"observer_recovers_seconds": 0.5, "lost_records": 0.0, "acked_records": 400.0},
        {"observer_recovers_seconds": 2.04, "lost_records": 2.0, "acked_records": 410.0},
        {"node_cpu_seconds": 3.0},
    ]
    assert inline_figures(runs) == ("observer recovers 0.5 to 2.0 s", "2 of 810 acked writes lost")
    assert inline_figures([{}]) == ()


def test_evidence_with_an_excerpt_is_quoted_under_the_reason_and_linked_to_its_line() -> None:
    shown = document("hold")
    cell = cell_of(shown, "turn2", "patched-on")
    assert [(q.text.split(" ")[0], q.link.text) for q in cell.quotes] == [("WARN", "nodes/3/server.log:911")]
    assert [link.text for link in cell.links] == ["journal", "journal.jsonl:171"]
    page = render_html(shown, {}).replace("<wbr>", "")
    quoted = f'<blockquote>{cell.quotes[0].text}</blockquote><figcaption><a href="{cell.quotes[0].link.href}">'
    assert quoted in page


def test_a_long_excerpt_is_cut_where_everybody_sees_it_and_the_rest_is_linked_only() -> None:
    whole = document()
    evidence = tuple(Evidence("runs/turn2/stock/1/nodes/3/server.log", line, f"{line}" * 200) for line in (11, 12, 13))
    runs = tuple(replace(r, evidence=evidence) if r.arm == "stock" else r for r in whole.runs)
    cell = cell_of(replace(whole, runs=runs), "turn2", "stock")
    assert [quote.text for quote in cell.quotes] == [f"{n * 150}… (100 more characters)" for n in ("11", "12")]
    assert [link.text for link in cell.links] == ["journal", "nodes/3/server.log:13"]


def test_findings_of_the_last_phase_of_a_proving_scenario_come_first_and_the_rest_keep_their_order() -> None:
    finding = document().contrasts[2].findings[0]
    at = [("turn1", "leader stops"), ("turn2", "move node 0"), ("turn2", "leader stops"), ("turn2", "start")]
    findings = [replace(finding, scenario=scenario, phase=phase) for scenario, phase in at]
    ordered = [(f.scenario, f.phase) for f in proving_phases_first(findings, {("turn2", "leader stops")})]
    assert ordered == [at[2], at[0], at[1], at[3]]


def test_the_last_phase_is_that_of_runs_that_came_to_an_answer() -> None:
    whole = document()
    events = {folder: list(output) for folder, output in journals().items()}
    spoiled = tuple(replace(r, outcome=Outcome.BROKEN) if r.arm == "patched-off" else r for r in whole.runs)
    for run in spoiled:
        if run.arm == "patched-off":
            events[run.key.folder] = [e for e in events[run.key.folder] if e.event != PhaseStarted("leader stops")]
    contrast = report_context(replace(whole, runs=spoiled), events).contrasts[0]
    (cause,) = contrast.causes
    assert [f.where.rpartition(" · ")[2] for f in (*cause.findings, *contrast.findings)] == [
        "leader stops",
        "move node 0",
    ]


def test_what_is_over_the_budget_is_cut_and_the_cut_is_reported() -> None:
    whole = document()
    finding = whole.contrasts[2].findings[0]
    many = replace(
        whole,
        contrasts=(
            replace(
                whole.contrasts[2],
                findings=tuple(replace(finding, template=f"{n} {finding.template}") for n in range(500)),
            ),
        ),
    )
    page = render_html(many, journals(), budget=120_000)
    assert len(page.encode()) <= 120_000
    assert re.search(r"\d+ more differences are in <a href=\"logs/findings.json\">", page)
    assert re.search(r"\d+ more runs have no timeline here", page)


def of_many(kind: str, count: int) -> VerdictRecord:
    """Return a verdict over many seeds of chaos, each with all that `turn1` has: runs, costs, figures, claims."""
    whole = document(kind)
    effect = next(each for each in whole.reasons if each.source is ReasonSource.EFFECT and each.weight is whole.verdict)
    turn1 = next(each for each in whole.scenarios if each.name == "turn1")
    names = [f"chaos-{number}" for number in range(count)]
    costs, runs = ([each for each in part if each.scenario == "turn1"] for part in (whole.costs, whole.runs))
    return replace(
        whole,
        scenarios=(*whole.scenarios, *(replace(turn1, name=name) for name in names)),
        costs=(*whole.costs, *(replace(cost, scenario=name) for name in names for cost in costs)),
        runs=(*whole.runs, *(replace(run, scenario=name) for name in names for run in runs)),
        claims=(*whole.claims, *(replace(whole.claims[0], id=f"{name}: {'x' * 300}") for name in names)),
        reasons=(*whole.reasons, *(replace(effect, sentence=f"{name}: {'x' * 300}") for name in names)),
        not_tested=tuple(f"{name}: {'x' * 300}" for name in names),
        not_fixed=tuple(f"{name}: {'x' * 300}" for name in names),
    )


@pytest.mark.parametrize("budget", [200_000, 400_000, BUDGET_BYTES])
def test_no_part_of_a_verification_of_many_scenarios_takes_the_page_over_its_budget(budget: int) -> None:
    many = of_many("hold", 600)
    cells = tuple(Sparkline(each.name, "on", "✓" * 30, "30 ✓", "") for each in many.scenarios)
    history = Sparklines("✓ as claimed", (), cells)
    page = render_html(many, journals("hold"), budget, history)
    assert len(page.encode()) <= budget
    for what in ("scenarios", "tables of costs", "figures", "runs", "claims", "gaps", "reasons", "of these"):
        assert re.search(rf'\d+ more {what} are in <a href="verdict.json">', page), what
    assert re.search(r'\d+ more cells are in <a href="history.json">', page)
    assert "turn2" in page, "what is not as claimed is kept"
    assert 'id="scenario-turn2"' in page


def test_the_smallest_page_is_within_the_budget_whatever_the_run_directory_holds() -> None:
    smallest = Limits()
    while smallest.halved() != smallest:
        smallest = smallest.halved()
    context = report_context(of_many("hostile", 600), journals("hostile"), smallest)
    assert len(render_page("report.html.j2", report=context).encode()) < BUDGET_BYTES


def test_when_timelines_are_cut_the_runs_that_did_not_pass_keep_theirs() -> None:
    (group,) = report_context(document("hold"), journals("hold"), Limits(timelines=1)).timelines
    assert (group.title, group.expanded) == ("turn2", True)
    assert [(run.name, run.tone) for run in (*group.shown, *group.more)] == [("patched-on", "bad")]


def test_a_failure_that_nothing_is_said_against_is_not_shown_as_a_success() -> None:
    whole = document()
    runs = tuple(replace(run, check=Check.PASSED) if run.check is Check.EXPECTED_FAILURE else run for run in whole.runs)
    group = next(
        each for each in report_context(replace(whole, runs=runs), journals()).timelines if each.title == "turn2"
    )
    assert [(run.outcome, run.tone) for run in group.shown] == [
        ("FAILED(observer_recovers)", "plain"),
        ("PASSED", "good"),
    ]


def test_runs_of_a_scenario_share_one_axis_and_the_flag_off_is_folded_where_it_went_as_it_should() -> None:
    group = next(each for each in report_context(document(), journals()).timelines if each.title == "turn2")
    assert [run.name for run in group.shown] == ["stock", "patched-on"]
    assert [run.name for run in group.more] == ["patched-off"]
    assert len({run.drawing.ticks for run in (*group.shown, *group.more)}) == 1
    ends = {run.name: max(box.x + box.width for box in run.drawing.phases) for run in group.shown}
    assert ends["stock"] > ends["patched-on"], "the run that waited in vain took longer"


def test_a_part_of_which_there_is_nothing_has_no_section_and_no_link_to_it() -> None:
    page = render_html(replace(document(), claims=(), costs=(), contrasts=()), {})
    for part in ("timelines", "claims", "costs", "findings", "history", "waivers", "operator"):
        assert f'<section id="{part}"' not in page
        assert f'href="#{part}"' not in page


def test_a_journal_cut_by_a_crash_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    run_dir = sample_run.write_sample(tmp_path)
    journal = run_dir / "runs/turn2/stock/1/journal.jsonl"
    journal.write_text(journal.read_text()[:3000])
    directory = RunDirectory(run_dir)
    assert "timeline-turn2-stock-1" in write_reports(directory, judge_run(directory)).read_text()


def test_a_jar_without_the_flag_has_no_off_arm_and_the_report_says_so() -> None:
    declaration = sample_run.declaration()
    jar = replace(sample_run.PATCHED, flag=replace(sample_run.PATCHED.flag, known=False))
    arms = (sample_run.ARMS[0], replace(sample_run.ARMS[2], name="jar-on", build=jar))
    results = [replace(r, arm="jar-on") if r.role is Role.ON else r for r, _ in sample_run.results("ship")]
    output = [r for r in results if r.role is not Role.OFF]
    shown = decide(replace(declaration, arms=arms), output, sample_run.proof("ship"))
    assert shown.verdict == "INCONCLUSIVE"  # the claims speak of the flag switched off
    assert "this jar does not know the flag" in render_html(shown, {})


def test_a_verdict_that_breaks_its_schema_is_not_written(tmp_path: Path) -> None:
    run_dir = sample_run.write_sample(tmp_path)
    arms = tuple(replace(arm, flag="perhaps") for arm in sample_run.ARMS)
    RunDirectory(run_dir).declaration.write(replace(sample_run.declaration(), arms=arms))
    with pytest.raises(HarnessError, match=r"at \$\.arms\[\d\]\.flag: 'perhaps' is not one of"):
        judged(run_dir)
    assert not (run_dir / "verdict.json").exists()


def test_a_failure_without_a_name_breaks_the_schema() -> None:
    nameless = RunResult("turn2", "stock", Role.BASE, 1, Outcome.FAILED)
    with pytest.raises(HarnessError, match=r"runs\[0\]\.expectation"):
        check_record(decide(sample_run.declaration(), [nameless], None))


def test_a_folder_that_is_no_run_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"is no run directory: it has no run\.json"):
        judged(tmp_path)
    with pytest.raises(HarnessError, match=r"has no verdict\.json"):
        RunDirectory(tmp_path).verdict.read()


@pytest.mark.parametrize(
    "other",
    [{"scenario": "turn1"}, {"arm": "stock", "role": Role.BASE}, {"repeat": 2}],
    ids=lambda other: next(iter(other)),
)
def test_a_result_that_lies_in_the_folder_of_another_run_is_named(tmp_path: Path, other: dict) -> None:
    run_dir = sample_run.write_sample(tmp_path)
    moved = run_dir / "runs/turn2/patched-on/1/result.json"
    moved.write_text(to_json(replace(from_json(RunResult, moved.read_bytes()), **other)))
    with pytest.raises(HarnessError, match=r"runs/turn2/patched-on/1/result\.json is the result of another run"):
        judged(run_dir)


def test_runs_beyond_the_declared_repeats_are_not_in_the_verdict(tmp_path: Path) -> None:
    run_dir = sample_run.write_sample(tmp_path)
    first = judged(run_dir)
    stale = run_dir / "runs/turn2/patched-on/2"
    stale.mkdir()
    left = RunResult("turn2", "patched-on", Role.ON, 2, Outcome.FAILED, sample_run.LOST, "from an earlier plan")
    (stale / "result.json").write_text(to_json(left))
    assert judged(run_dir) == first


def test_junit_passes_expected_failures_and_says_so_and_the_rest_is_what_it_is() -> None:
    suites = {suite.get("name"): suite for suite in ET.fromstring(render_runs(document("hold")))}
    turn2 = {case.get("name"): case for case in suites["turn2"]}
    assert suites["turn2"].get("failures") == "1"
    assert turn2["turn2[stock-1]"].find("failure") is None
    expected = turn2["turn2[stock-1]"].findtext("system-out", "")
    assert expected.startswith("expected failure: FAILED(observer_recovers): ")
    assert turn2["turn2[patched-off-1]"].findtext("system-out", "").startswith("expected failure: ")
    failure = turn2["turn2[patched-on-1]"].find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith("FAILED(observer_recovers)")
    assert "expected: PASSED" in (failure.text or "")


@pytest.mark.parametrize(("outcome", "tag"), [(Outcome.BROKEN, "error"), (Outcome.UNSUPPORTED, "skipped")])
def test_junit_shows_what_could_not_be_tested_with_its_reason(outcome: Outcome, tag: str) -> None:
    results = [replace(r, outcome=outcome, expectation="", reason="port taken") for r, _ in sample_run.results("ship")]
    shown = decide(sample_run.declaration(), results, None)
    root = ET.fromstring(render_runs(shown))
    of_runs = [case for case in root.iter("testcase") if case.get("classname") != "verdict"]
    assert [case.find(tag).get("message") for case in of_runs] == [f"{outcome}: port taken"] * 9


def test_junit_has_a_case_that_is_not_green_for_whatever_no_run_shows() -> None:
    """A CI that looks at cases alone must not take a jar for good that its costs, logs or proof hold back."""
    sound = document("ship")
    assert not {"failure", "error"} & {each.tag for each in ET.fromstring(render_runs(sound)).iter()}
    costs = Reason(ReasonSource.FIGURES, Verdict.HOLD, None, "turn1: jar costs more than stock")
    open_one = Reason(ReasonSource.PROOF, Verdict.INCONCLUSIVE, None, "The jar was not proved.")
    held = replace(sound, verdict=Verdict.HOLD, reasons=(*sound.reasons, costs, open_one))
    told = [case for case in ET.fromstring(render_runs(held)).iter("testcase") if case.get("classname") == "verdict"]
    assert [(case[0].tag, case[0].get("message")) for case in told] == [
        ("failure", costs.sentence),
        ("error", open_one.sentence),
    ]


def test_junit_has_a_case_for_a_run_that_is_missing() -> None:
    results = [result for result, _ in sample_run.results("ship") if result.scenario != "turn2"]
    root = ET.fromstring(render_runs(decide(sample_run.declaration(), results, None)))
    missing = [case for case in root.iter("testcase") if case.get("name", "").startswith("turn2[")]
    assert [case[0].tag for case in missing] == ["error"] * 3


def test_junit_stays_xml_whatever_a_log_holds() -> None:
    assert r"\x00" in ET.tostring(ET.fromstring(render_runs(document("hostile"))), encoding="unicode")


def test_where_nothing_is_claimed_no_scenario_is_said_to_be_no_evidence() -> None:
    unclaimed = replace(document("hold"), claims=())
    assert "no evidence" not in render_markdown(report_context(unclaimed, journals("hold")))
    assert "no evidence" not in render_html(unclaimed, journals("hold"))


def test_markdown_gives_verdict_matrix_and_claims() -> None:
    summary = render_markdown(report_context(document("hold"), journals("hold")))
    assert summary.startswith("# HOLD: Not a drop-in: config-default: The default of")
    assert r"| turn1 | ✓ PASSED, 1 of 1 | ✓ PASSED, 1 of 1 | ✓ PASSED, 1 of 1 | no difference; no evidence |" in summary
    assert "- **held** learns-unconfigured-voters" in summary
    assert r"| turn2 | ✕ FAILED(observer\_recovers), expected failure, 1 of 1 |" in summary


def test_markdown_takes_log_text_literally() -> None:
    summary = render_markdown(report_context(document("hostile"), journals("hostile")))
    assert r"\<script\>" in summary
    assert len(summary) < 20_000


def test_a_rerun_is_made_from_the_request_and_not_from_how_it_was_typed(tmp_path: Path) -> None:
    run_dir = sample_run.write_sample(tmp_path)
    (run_dir / "request.json").write_text(to_json(Request(jar=Path("/jars/my.jar"), repeats=3)))
    again = judged(run_dir).scenarios[0].cells[0].rerun
    assert again == "harness verify --jar /jars/my.jar --arms stock --scenario new-mechanism --repeats 3"


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        ((), "harness verify --arms stock --scenario turn2"),
        (("verify", "--jar", "my jar.jar"), "harness verify --jar 'my jar.jar' --arms stock --scenario turn2"),
        (
            ("verify", "--scenario", "a", "--scenario=b", "--out", "x", "--arms=on", "--repeats", "3"),
            "harness verify --arms stock --scenario turn2 --repeats 3",
        ),
        (
            ("build", "--suite", "nightly", "--no-coverage"),
            "harness verify --no-coverage --arms stock --scenario turn2",
        ),
    ],
)
def test_a_rerun_keeps_the_options_and_replaces_scenario_and_arm(argv: tuple[str, ...], command: str) -> None:
    assert rerun_command(record_of(Request, argv), "turn2", "stock") == command


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcode → 漢字 ✓", "plain ünïcode → 漢字 ✓"),
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[31m\x07\x7f\x9b\r", r"\x1b[31m\x07\x7f\x9b\x0d"),
        ("a\u202eb\u2066c\u200bd\ufeff\u00ad", r"a\u202eb\u2066c\u200bd\ufeff\xad"),
        ("\ud800\U000e0041\ufffe\u2028", r"\ud800\U000e0041\ufffe\u2028"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_cut_shows_how_much_is_missing_and_nothing_is_cut_that_the_note_about_it_is_longer_than() -> None:
    assert cut("a" * 4 + "b" * 30, 4) == "aaaa… (30 more characters)"
    assert cut("a" * 26, 4) == "a" * 26
    assert cut("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("path", "href"),
    [
        ("runs/turn2/stock/1/nodes/3/server.log", "runs/turn2/stock/1/nodes/3/server.log"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("/etc/passwd", "etc/passwd"),
        ("../../secret", "secret"),
        ('a"b c#d', "a%22b%20c%23d"),
    ],
)
def test_links_stay_in_the_run_directory_and_name_no_scheme(path: str, href: str) -> None:
    assert evidence_link(Evidence(path, 3)).href == href


if __name__ == "__main__":
    for each in ("ship", "hold"):
        (GOLDEN / f"report-{each}.json").write_text(shown_context(each), encoding="utf-8")
