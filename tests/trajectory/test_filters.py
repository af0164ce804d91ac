"""Each filter keeps what it says, a sample is the same for the same seed, nothing is read early."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from sessionbank.errors import QueryError
from sessionbank.records import Block, Session
from sessionbank.trajectory import Outcome, agent_share, sample, select, synthesize, trajectories
from tests.trajectory.made_sessions import Script, small


def session(sid, steps, files):
    s = Script(sid)
    s.prompt("Go")
    for number in range(steps):
        s.reply(f"m{number}", Block("text", "x"))
    return s.session(files=files)


SESSIONS = [
    session("a", 1, ["a.py"]),
    session("b", 5, ["b.go"]),
    session("c", 0, []),
    session("d", 9, ["d.py", "e.py"]),
]


def judge(given):
    label = {"a": "success", "b": "failure", "c": "unknown", "d": "partial"}[given.session_id]
    return Outcome(label, None, 0.5, "judge", "")


def ids(found):
    return "".join(t.session_id for t in found)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, "abd"),
        ({"min_steps": 0}, "abcd"),
        ({"domain": "python"}, "ad"),
        ({"success_only": True}, "a"),
        ({"labels": ["failure", "partial"]}, "bd"),
        ({"labels": "failure"}, "b"),
        ({"min_steps": 2, "max_steps": 5}, "b"),
        ({"limit": 2}, "ab"),
        ({"limit": 0}, ""),
        ({"min_agent_share": 0.1}, ""),
    ],
)
def test_each_filter(options, kept):
    assert ids(trajectories(SESSIONS, outcome=judge, **options)) == kept


def test_nothing_is_read_before_it_is_reached():
    read = []

    def load(sid):
        read.append(sid)
        return SESSIONS[1].load(sid)

    lazy = [Session(s.session_id, s.records, load) for s in SESSIONS]
    found = trajectories(lazy, outcome=None)
    assert read == []
    next(found)
    assert read == ["a"]


def test_filters_by_outcome_need_one():
    with pytest.raises(QueryError, match="evidence"):
        trajectories(SESSIONS, outcome=None, success_only=True)
    with pytest.raises(QueryError, match="'good'"):
        trajectories(SESSIONS, labels=["good"])


def shared(sid, percentage):
    made = synthesize(small(), outcome=None)
    return replace(
        made,
        id=sid,
        session_id=sid,
        metadata={} if percentage is None else {"attribution": {"agent_percentage": percentage}},
    )


def test_shares_are_as_stated_or_missing():
    assert [agent_share(shared("a", p)) for p in (80, 0.0, None)] == [0.8, 0.0, None]
    given = [shared("a", 80), shared("b", 20), shared("c", None)]
    assert ids(select(given, min_agent_share=0.5)) == "a"
    assert ids(select(given, min_agent_share=0.0)) == "ab"  # unknown is not zero


def test_a_sample_is_weighted_seeded_and_in_order():
    given = [shared("a", 90), shared("b", 10), shared("c", 0), shared("d", None)]
    drawn = Counter(ids(sample(given, 1, seed=n)) for n in range(2000))
    assert set(drawn) == {"a", "b"}
    assert 0.86 < drawn["a"] / 2000 < 0.94
    assert ids(sample(given, 4, seed=1)) == "ab"
    assert ids(sample(given, 4, seed=1, unknown_weight=0.5)) == "abd"
    assert ids(sample(given, 4, seed=1, by="even")) == "abcd"
    assert sample(given, 1, seed=5) == sample(iter(given), 1, seed=5)
    assert sample(given, 0, seed=5) == []
    with pytest.raises(QueryError, match="lines"):
        sample(given, 1, seed=1, by="lines")
