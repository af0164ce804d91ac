"""Real sessions without a summary, read by hand: the strategies against labels, and against always saying success.

Forty sessions (round 1) were read before the rules of `end_state` were mended on what they showed; thirty-two more (round 2)
were read after that, and nothing was mended on them: theirs are the honest figures. Both rounds were drawn by the hash of
the session's id, a fixed number a bundle. Few are not a success, so intervals are wide.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sessionbank as sb
from sessionbank.trajectory.outcome import BASELINES, DEFAULT, outcome_frame, outcome_rows
from sessionbank.trajectory.outcomes.agreement import accuracy

LABELS = Path(__file__).parents[1] / "data/outcomes/ends_without_summary.jsonl"
READ = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]


def test_each_session_is_labelled_once_with_a_reason():
    assert len({r["session_id"] for r in READ}) == len(READ) >= 70
    assert all(r["reason"] and r["label"] in ("success", "partial", "failure", "unknown") for r in READ)


@pytest.fixture(scope="module")
def judged(shared, bundle_repo, tmp_path_factory):
    rows = []
    for name in dict.fromkeys(r["bundle"] for r in READ):
        folder = tmp_path_factory.mktemp(name)
        with sb.open_bank(
            bundle_repo(name), cache=folder / "cache", state_dir=folder / "state", progress=False
        ) as bank:
            for r in READ:
                if r["bundle"] == name:
                    session = bank.get_by_session_id(r["session_id"])
                    assert session.summary is None
                    rows += outcome_rows(session, session.commit_facts, strategies=(*DEFAULT, *BASELINES))
    return outcome_frame(rows)


def scored(judged, *rounds):
    labels = {r["session_id"]: r["label"] for r in READ if r["round"] in rounds}
    table = accuracy(judged[judged["session_id"].isin(labels)], labels).set_index("strategy")
    print(
        table[["right", "sessions", "accuracy", "low", "high", "balanced", "balanced_low", "balanced_high"]]
        .round(2)
        .to_string()
    )
    return table


@pytest.mark.shared
def test_evidence_on_sessions_that_no_rule_was_made_on(judged):
    table = scored(judged, 2)
    best, always = table.loc["evidence"], table.loc["baseline_success"]
    assert best["right"] >= 26  # of 31; it was 28 when this was written
    assert best["answered"] == best["sessions"] == 31
    assert best["balanced"] > always["balanced"] + 0.15


@pytest.mark.shared
def test_evidence_on_all_that_were_read(judged):
    table = scored(judged, 1, 2)
    best, always = table.loc["evidence"], table.loc["baseline_success"]
    assert best["right"] >= 64  # of 71
    assert best["right"] > always["right"]
    assert best["balanced_low"] > always["balanced"]
