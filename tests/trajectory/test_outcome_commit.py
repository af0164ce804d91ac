"""What became of the commits: on the default branch or not, reverted, work in progress, none at all."""

from __future__ import annotations

import subprocess

from sessionbank.trajectory.outcome import CommitFacts, outcomes_of, reverts
from tests.trajectory.outcome_sessions import bash, edit, session

CHECKPOINT = "aaaaaaaaaaaa"
SHA = "1" * 40


def fact(sha=SHA, *, subject="Add search", on_default=True, checkpoint=CHECKPOINT):
    return {
        "commit_sha": sha,
        "checkpoint_id": checkpoint,
        "subject": subject,
        "on_default_branch": on_default,
    }


def said(facts, *turns):
    turns = turns or (("prompt", "x"), edit(), ("reply", "done"))
    return outcomes_of(session(*turns, checkpoint=CHECKPOINT), ("commit",), commits=facts)["commit"]


def test_landed_or_not():
    landed = said(CommitFacts.of([fact()]))
    beside = said(CommitFacts.of([fact(on_default=False)]))
    unknown = said(CommitFacts.of([fact(on_default=None)]))
    assert landed.label == beside.label == unknown.label == "success"
    assert landed.score > beside.score
    assert landed.confidence > beside.confidence
    assert "not known" in unknown.reason
    assert landed.evidence[0]["commit_sha"] == SHA
    assert landed.evidence[0]["checkpoint_id"] == CHECKPOINT


def test_reverted():
    facts = CommitFacts.of([fact()], [("9" * 40, f'Revert "Add search"\n\nThis reverts commit {SHA}.\n')])
    gone = said(facts)
    assert gone.label == "failure"
    assert {e["commit_sha"] for e in gone.evidence} == {SHA, "9" * 40}
    by_subject = CommitFacts.of([fact()], [("9" * 40, 'Revert "Add search"')])
    assert said(by_subject).label == "failure"
    half = CommitFacts.of(
        [fact(), fact("2" * 40, subject="Add tests")], [("9" * 40, f"x\n\nThis reverts commit {SHA}.")]
    )
    assert said(half).label == "partial"


def test_a_revert_that_was_reverted_counts_for_nothing():
    back = [("8" * 40, f"This reverts commit {'9' * 40}."), ("9" * 40, f"This reverts commit {SHA}.")]
    assert SHA not in reverts(back)
    assert said(CommitFacts.of([fact()], back)).label == "success"


def test_reverts_are_read_from_a_real_repository(tmp_path):
    def git(*words):
        return subprocess.run(
            ["git", "-C", str(tmp_path), *words], check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-qm", "Add a")
    (tmp_path / "a").write_text("2")
    git("commit", "-qam", 'Say "two" in a')
    lost = git("rev-parse", "HEAD").strip()
    git("revert", "--no-edit", "HEAD")
    out = git("log", "-z", "--format=%H%x00%B").split("\0")
    assert reverts(zip(out[::2], out[1::2], strict=False)) == {lost: git("rev-parse", "HEAD").strip()}


def test_work_in_progress():
    assert said(CommitFacts.of([fact(subject="wip: search", on_default=False)])).label == "partial"
    assert said(CommitFacts.of([fact(subject="WIP"), fact("2" * 40)])).label == "success"
    assert said(CommitFacts.of([fact(subject="Wipe caches on logout")])).label == "success"


def test_no_commit():
    others = CommitFacts.of([fact(checkpoint="bbbbbbbbbbbb")])
    missing = said(others)
    assert missing.label == "failure"
    assert missing.confidence < 0.5
    assert said(others, ("prompt", "which port?"), ("reply", "8080")).label == "unknown"
    assert said(CommitFacts.of([fact()]), ("prompt", "which port?"), ("reply", "8080")).label == "unknown"
    assert said(CommitFacts.of([])).label == "unknown"
    assert said(None).label == "unknown"
    assert said(others, ("prompt", "look"), bash("ls"), ("reply", "ok")).label == "unknown"


def test_facts_take_rows_of_a_frame():
    import pandas as pd

    frame = pd.DataFrame([fact(on_default=True), fact("2" * 40, on_default=None)])
    frame["on_default_branch"] = frame["on_default_branch"].astype("boolean")
    facts = CommitFacts.of(frame.to_dict("records"))
    assert [f.on_default_branch for f in facts.by_checkpoint[CHECKPOINT]] == [True, None]
