"""Raft's rules: a legal history of the small model with one record forged breaks the rule that this record is about."""

from dataclasses import replace

import pytest
from examples import costly
from hypothesis import assume, given
from hypothesis import strategies as st
from quorum_model import votes
from test_conformance_rules import at_random, lived

from harness.cluster.conformance.observations import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    UNATTACHED,
    Attempted,
    Booted,
    ControllerClaimed,
    Counted,
    HighWatermarkMoved,
    LogStartMoved,
    Named,
    PreVoteGranted,
    SnapshotKept,
    Transitioned,
    Truncated,
    VersionApplied,
    VoteGranted,
    VotersApplied,
)
from harness.cluster.conformance.rules import violations
from harness.cluster.conformance.voter_rules import committed

NOBODY = votes({7, 8})


def places_of(history, kind):
    """Yield node, position and record of one kind, each with all that the node said before it in its process."""
    for node, said in history.said.items():
        life = []
        for at, each in enumerate(said):
            life = [] if isinstance(each, Booted) else life
            if isinstance(each, kind):
                yield node, at, each, life
            life = [*life, each]


def of(life, kind):
    return [each for each in life if isinstance(each, kind)]


def in_place(history, node, at, *records):
    """The history with other records in the place of one."""
    said = list(history.said[node])
    said[at : at + 1] = records
    return replace(history, said={**history.said, node: tuple(said)})


def steps_to(history, *kinds):
    return (
        (node, at, each, life) for node, at, each, life in places_of(history, Transitioned) if each.state.kind in kinds
    )


def an_epoch_falls(history):
    for node, at, step, life in places_of(history, Transitioned):
        if of(life, Transitioned) and step.state.epoch > 0:
            falls = replace(step.state, epoch=of(life, Transitioned)[-1].state.epoch - 1)
            if falls.epoch >= 0:
                yield node, at, replace(step, state=falls)


def a_node_votes_again(history):
    for node, at, vote, _ in places_of(history, VoteGranted):
        yield node, at, vote, replace(vote, candidate=(vote.candidate + 1) % 3)


def a_follower_follows_another(history):
    followed = [step.state.epoch for _, _, step, _ in steps_to(history, FOLLOWER)]
    for node, at, step, _ in steps_to(history, FOLLOWER):
        if followed.count(step.state.epoch) > 1:
            yield node, at, replace(step, state=replace(step.state, leader=9))


def a_high_watermark_falls(history):
    for node, at, moved, _ in places_of(history, HighWatermarkMoved):
        yield node, at, moved, replace(moved, offset=moved.offset - 1)


def what_is_committed_is_cut_off(history):
    for node, at, moved, _ in places_of(history, HighWatermarkMoved):
        yield node, at, moved, Truncated(moved.place, moved.offset - 1)


def a_node_applies_other_voters(history):
    known = [each.offset for life in history.lives() for each in committed(life, VotersApplied)]
    for life in history.lives():
        for each in committed(life, VotersApplied):
            if known.count(each.offset) > 1:
                yield life.node, history.said[life.node].index(each), replace(each, voters=NOBODY)


def a_node_applies_another_version(history):
    for life in history.lives():
        for each in committed(life, VersionApplied):
            yield life.node, history.said[life.node].index(each), replace(each, version=0)


def a_leader_begins_too_early(history):
    counts = [(counted.offset, counted.first_of) for _, _, counted, _ in places_of(history, Counted)]
    if history.voters_kept_disks:
        for node, at, step, _ in steps_to(history, LEADER):
            before = [offset for offset, epoch in counts if 0 <= epoch < step.state.epoch]
            if before and max(before) > 0:
                yield node, at, replace(step, state=replace(step.state, start=max(before) - 1))


def a_follower_votes_in_its_epoch(history):
    for node, at, step, _ in steps_to(history, FOLLOWER):
        if step.state.voted < 0:
            yield node, at, step, VoteGranted(step.place, step.state.epoch, 9)


def a_node_leads_unelected(history):
    for node, at, step, _ in steps_to(history, FOLLOWER):
        if step.before is not None and step.before.kind in (UNATTACHED, FOLLOWER):
            yield node, at, replace(step, state=replace(step.state, kind=LEADER, leader=-1, voters=frozenset({node})))


def a_node_stands_that_was_voted_out(history):
    for node, at, step, life in steps_to(history, CANDIDATE, PROSPECTIVE):
        if step.before is not None and of(life, VotersApplied):
            out = VotersApplied(step.place, of(life, VotersApplied)[-1].offset, NOBODY)
            yield node, at, out, step


def a_leader_commits_alone(history):
    for node, at, counted, _ in places_of(history, Counted):
        if len(counted.ends) > 1:
            yield (
                node,
                at,
                replace(counted, ends={each: -1 if each != node else counted.offset for each in counted.ends}),
            )


def a_leader_commits_what_was_before_it(history):
    for node, at, counted, life in places_of(history, Counted):
        leads = of(life, Transitioned)[-1].state
        if counted.first_of >= 0:
            yield node, at, replace(counted, offset=leads.start)


def a_snapshot_is_written_too_early(history):
    for node, at, kept, life in places_of(history, SnapshotKept):
        if not kept.fetched and (known := of(life, HighWatermarkMoved)):
            yield node, at, replace(kept, offset=known[-1].offset + 1)


def a_controller_claims_another_epoch(history):
    for node, at, claim, _ in places_of(history, ControllerClaimed):
        yield node, at, replace(claim, epoch=claim.epoch + 1)


def a_voter_votes_for_a_shorter_log(history):
    for node, at, vote, life in places_of(history, (VoteGranted, PreVoteGranted)):
        if history.voters_kept_disks and (known := of(life, HighWatermarkMoved)):
            yield node, at, replace(vote, last=(0, known[-1].offset - 1))


def a_follower_knows_more_than_its_leader(history):
    led = {step.state.epoch for _, _, step, _ in steps_to(history, LEADER)}
    most = max((moved.offset for _, _, moved, _ in places_of(history, HighWatermarkMoved)), default=0)
    for node, at, moved, life in places_of(history, HighWatermarkMoved):
        state = of(life, Transitioned)[-1].state
        if history.voters_kept_disks and state.kind == FOLLOWER and state.epoch in led:
            yield node, at, replace(moved, offset=most + 1)


def a_leader_grants_a_pre_vote(history):
    for node, at, counted, _ in places_of(history, Counted):
        yield node, at, counted, PreVoteGranted(counted.place, 9, 9)


def a_leader_cuts_off_its_log(history):
    for node, at, counted, _ in places_of(history, Counted):
        yield node, at, counted, Truncated(counted.place, counted.offset)


# What is said is forged in one place; the rule is that which this record is about.
FORGERIES = {
    an_epoch_falls: "epoch_never_falls",
    a_node_votes_again: "one_vote_per_epoch",
    a_follower_follows_another: "one_leader_per_epoch",
    a_high_watermark_falls: "high_watermark_never_falls",
    what_is_committed_is_cut_off: "no_truncation_of_committed",
    a_node_applies_other_voters: "voters_as_logged",
    a_node_applies_another_version: "kraft_version_as_logged",
    a_leader_begins_too_early: "leader_completeness",
    a_follower_votes_in_its_epoch: "vote_is_permitted",
    a_node_leads_unelected: "legal_transitions",
    a_node_stands_that_was_voted_out: "only_voters_stand",
    a_leader_commits_alone: "committed_by_majority",
    a_leader_commits_what_was_before_it: "own_epoch_committed_first",
    a_snapshot_is_written_too_early: "snapshots_are_committed",
    a_voter_votes_for_a_shorter_log: "candidates_are_up_to_date",
    a_follower_knows_more_than_its_leader: "followers_know_what_leaders_committed",
    a_leader_grants_a_pre_vote: "pre_vote_is_permitted",
    a_leader_cuts_off_its_log: "only_followers_truncate",
    a_controller_claims_another_epoch: "active_controller_leads",
}


def known(life, kind):
    return {each.offset for each in committed(life, kind)}


def on_disk_other_voters(files, life):
    for offset in files.voters.keys() & known(life, VotersApplied):
        yield replace(files, voters={**files.voters, offset: NOBODY})


def a_snapshot_of_other_voters(files, life):
    for end in files.named:
        if any(offset < end for offset in files.voters) or end - 1 in known(life, VotersApplied):
            yield replace(files, named={**files.named, end: replace(files.named[end], voters=NOBODY)})


def a_snapshot_of_another_version(files, life):
    for end in files.named:
        if any(offset < end for offset in files.versions) or end - 1 in known(life, VersionApplied):
            yield replace(files, named={**files.named, end: Named(files.named[end].voters, 0)})


def a_quorum_state_of_another_epoch(files, life):
    if any(life.of(Attempted)):
        yield replace(files, quorum=replace(files.quorum, epoch=files.quorum.epoch + 1))


def a_snapshot_that_should_be_gone(files, life):
    if any(moved.offset > 1 for moved in life.of(LogStartMoved)):
        yield replace(files, snapshots=(1, *files.snapshots))


def forged_files(history, forge):
    """Yield all files, of one node forged, of which the node knew better: it has never cut anything off."""
    last = {life.node: life for life in history.lives()}
    for files in history.files:
        others = tuple(each for each in history.files if each is not files)
        if not any(isinstance(each, Truncated) for each in history.said[files.node]):
            yield from ((*others, forged) for forged in forge(files, last[files.node]))


def with_snapshots(seed):
    """A life at whose end whoever runs has written two snapshots more, and has cleaned up below."""
    model = lived(at_random(seed, 120))
    for leader in model.members:
        model.elect(leader)
        model.go_on(leader)
        for node in model.members:
            model.snapshot(node)
            model.clean(node)
        model.write(leader)
    return model.history()


# What lies on one disk is forged.
FORGED_FILES = {
    on_disk_other_voters: "voters_as_logged",
    a_snapshot_of_other_voters: "voters_as_logged",
    a_snapshot_of_another_version: "kraft_version_as_logged",
    a_quorum_state_of_another_epoch: "quorum_state_agrees",
    a_snapshot_that_should_be_gone: "cleaned_below_log_start",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
@costly
@given(st.integers(0, 10**6), st.booleans(), st.data())
def test_a_legal_history_in_which_one_record_is_forged_is_rejected_by_the_rule_of_that_record(
    forge, seed, prevote, data
):
    history = lived(at_random(seed, 120), prevote=prevote).history()
    options = list(forge(history))
    assume(options)
    node, at, *records = data.draw(st.sampled_from(options))
    assert FORGERIES[forge] in {found.name for found in violations(in_place(history, node, at, *records))}


@pytest.mark.parametrize("forge", FORGED_FILES, ids=lambda forge: forge.__name__)
@costly
@given(st.integers(0, 10**6), st.data())
def test_so_is_one_in_which_one_file_of_a_disk_is_forged(forge, seed, data):
    history = with_snapshots(seed)
    options = list(forged_files(history, forge))
    assume(options)
    forged = replace(history, files=data.draw(st.sampled_from(options)))
    assert FORGED_FILES[forge] in {found.name for found in violations(forged)}
