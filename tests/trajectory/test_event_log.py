"""Frames with the column names of XES event logs."""

from __future__ import annotations

import pandas as pd
import pytest

from sessionbank.errors import QueryError
from sessionbank.trajectory import synthesize, to_event_log
from tests.trajectory.made_sessions import START, with_subagent


def test_steps_are_an_event_log():
    made = synthesize(with_subagent(), outcome=None)
    log = to_event_log(made.steps())
    assert list(log["case:concept:name"]) == [t.id for t in made.walk() for _ in t.own_steps]
    assert list(log["concept:name"]) == ["Task", "query", "Agent", "Read"]
    assert list(log["org:resource"]) == ["main", "main", "a1", "a2"]
    assert log["start_timestamp"].iloc[0] == pd.Timestamp(START) + pd.Timedelta(seconds=20)
    assert log["time:timestamp"].iloc[0] - log["start_timestamp"].iloc[0] == pd.Timedelta(seconds=10)
    assert str(log["time:timestamp"].dt.tz) == "UTC"
    assert log.attrs["without_time"] == 0


def test_rows_without_a_time_are_left_out_and_counted():
    frame = synthesize(with_subagent(), outcome=None).steps()
    frame.loc[0, "started_at"] = pd.NaT
    log = to_event_log(frame)
    assert (len(log), log.attrs["without_time"]) == (len(frame) - 1, 1)


def test_a_frame_without_what_it_needs_is_refused():
    with pytest.raises(QueryError, match="concept:name"):
        to_event_log(pd.DataFrame({"session_id": ["a"], "timestamp": [pd.Timestamp(START)]}))
