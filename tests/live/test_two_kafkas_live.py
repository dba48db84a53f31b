"""Two whole Kafkas on live clusters: each arm runs its own jars, and every node names those that base does not have."""

import shutil
import tarfile
import zipfile

import pytest

from harness.model.candidate_kind import CandidateKind
from harness.model.events import NodeProved
from harness.model.request import Request
from harness.model.runs import Outcome, Verdict
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import events_of, read_journal
from harness.stages.build import build
from harness.stages.judge import judge_run
from harness.stages.prove import prove
from harness.stages.run import run

pytestmark = [pytest.mark.live, pytest.mark.clusters]

CHANGED = "jopt-simple-5.0.4.jar"


@pytest.fixture
def archive(kafka, tmp_path):
    """Return an archive of the release in which two jars are others, by a file that nobody reads: raft is one."""
    libs = tmp_path / "acme" / "libs"
    libs.mkdir(parents=True)
    for jar in kafka.jars:
        shutil.copyfile(jar, libs / jar.name)
    for name in (CHANGED, kafka.raft_jar.name):
        with zipfile.ZipFile(libs / name, "a") as jar:
            jar.writestr("acme.txt", "rebuilt")
    with tarfile.open(tmp_path / "acme.tgz", "w:gz", compresslevel=1) as tar:
        tar.add(tmp_path / "acme", arcname="kafka_2.13-3.9.1")
    return tmp_path / "acme.tgz"


def test_an_archive_runs_beside_apaches_release_its_nodes_name_the_jars_that_differ_and_it_is_judged(
    archive, toolbox, quiet, tmp_path
):
    directory = RunDirectory(tmp_path / "run")
    directory.request.write(Request(dist=archive, scenarios=("turn1",), builder="ecj"))
    build(directory.path, toolbox, quiet)
    declared = directory.declaration.read()
    assert [arm.name for arm in declared.arms] == ["stock", "kafka"]
    assert declared.kind is CandidateKind.UNKNOWN
    proof = prove(directory.path, toolbox, quiet)
    assert (proof.blockers, proof.kafka) == ((), "3.9.1")
    results = run(directory.path, toolbox, quiet)
    assert {result.outcome for result in results} == {Outcome.PASSED}, results
    seen = {result.arm: proofs(directory, result) for result in results}
    assert {(each.jars, each.differing) for each in seen["stock"]} == {(57, ())}
    digests = declared.arms[1].build.kafka.jars
    differing = {f"{name} {digests[name][:12]}" for name in (CHANGED, declared.arms[1].build.kafka.raft_jar)}
    assert {(each.jars, frozenset(each.differing)) for each in seen["kafka"]} == {(57, frozenset(differing))}
    assert proof.base == digests[declared.arms[1].build.kafka.raft_jar] != declared.arms[0].build.jar_sha256
    record = judge_run(directory)
    assert (record.verdict, record.proof) == (Verdict.INCONCLUSIVE, proof), record.sentence


@pytest.mark.whole
def test_two_release_lines_run_beside_each_other_each_as_its_own_line_says(toolbox, quiet, tmp_path):
    directory = RunDirectory(tmp_path / "run")
    request = Request(base_kafka="3.9.1", kafka_version="4.3.1", scenarios=("turn1",), builder="ecj")
    directory.request.write(request)
    build(directory.path, toolbox, quiet)
    base, candidate = (arm.build.kafka for arm in directory.declaration.read().arms)
    assert (base.version, candidate.version) == ("3.9.1", "4.3.1")
    results = run(directory.path, toolbox, quiet)
    assert {(result.arm, result.outcome) for result in results} == {
        ("stock", Outcome.PASSED),
        ("kafka", Outcome.PASSED),
    }, results
    apart = {f"{name} {digest[:12]}" for name, digest in candidate.jars.items() if digest not in base.jars.values()}
    assert {each.split("-")[0] for each in apart} >= {"kafka", "log4j"}
    for result in results:
        kafka, differing = (base, set()) if result.arm == "stock" else (candidate, apart)
        seen = proofs(directory, result)
        assert {(each.jars, frozenset(each.differing)) for each in seen} == {(len(kafka.jars), frozenset(differing))}
        for node in {each.node for each in seen}:
            log = directory.run(result.key).node_log(node).read_text(encoding="utf-8")
            assert f"Kafka version: {kafka.version} " in log


def proofs(directory, result):
    events = events_of(read_journal(directory.run(result.key).journal))
    return [event for event in events if isinstance(event, NodeProved)]
