"""Steps as rows: the table ``steps`` of one trajectory or of many, and the columns that process mining asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sessionbank import schema
from sessionbank.errors import QueryError
from sessionbank.records import Session
from sessionbank.trajectory.model import Trajectory
from sessionbank.trajectory.synthesis import synthesize

if TYPE_CHECKING:
    import pandas as pd


def steps_rows(session: Session) -> list[tuple[Any, ...]]:
    """Rows of table ``steps`` for a session, in schema order: the main agent's, then each subagent's."""
    return list(_rows(synthesize(session, outcome=None).walk()))


def steps_frame(trajectories: Iterable[Trajectory]) -> pd.DataFrame:
    """A frame of table ``steps``: the steps of each trajectory in turn; subagents only where they are given too."""
    return schema.frame(schema.arrow_table("steps", list(_rows(trajectories))))


def _rows(trajectories: Iterable[Trajectory]) -> Iterator[tuple[Any, ...]]:
    columns = schema.table("steps").columns[2:]
    for trajectory in trajectories:
        for step in trajectory.own_steps:
            yield (trajectory.id, trajectory.session_id, *(getattr(step, c) for c in columns))


# From a column of ours to the name that XES gives it; the first that a frame has is taken.
_XES = {
    "case:concept:name": ("trajectory_id", "session_id", "team"),
    "concept:name": ("action_name", "tool_name", "type"),
    "time:timestamp": ("started_at", "called_at", "timestamp"),
    "org:resource": ("agent_id", "from_agent"),
}
MAIN_RESOURCE = "main"  # who acts where no subagent does


def to_event_log(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the column names of XES event logs, which process-mining programs read as they are.

    Takes steps (a case is a trajectory), tool_calls (a session) or interactions (a team or session). Adds
    ``case:concept:name``, ``concept:name``, ``time:timestamp`` and ``org:resource``, and ``start_timestamp`` where a
    duration (ms) is known: then ``time:timestamp`` is the end. Rows without a time are left out, their number stands
    in ``frame.attrs["without_time"]``. Other columns keep their names. Raises `QueryError` where a column is missing.
    """
    import pandas as pd

    taken: dict[str, str] = {}
    for name, ours in _XES.items():
        found = next(
            (
                c
                for c in ours
                if c in frame.columns and (name != "case:concept:name" or frame[c].notna().all())
            ),
            None,
        )
        if found is None and name != "org:resource":
            raise QueryError(f"no column for {name!r}: an event log needs one of {', '.join(ours)}")
        if found is not None:
            taken[name] = found
    log = frame.copy()
    log["case:concept:name"] = frame[taken["case:concept:name"]].astype("str")
    log["concept:name"] = frame[taken["concept:name"]].astype("str")
    time = frame[taken["time:timestamp"]]
    if "duration_ms" in frame.columns:
        log["start_timestamp"] = time
        length = frame["duration_ms"].fillna(0).astype("int64")
        time = time + pd.to_timedelta(length, unit="ms")
    log["time:timestamp"] = time
    if "org:resource" in taken:
        log["org:resource"] = frame[taken["org:resource"]].fillna(MAIN_RESOURCE).astype("str")
    kept = log[log["time:timestamp"].notna()].reset_index(drop=True)
    kept.attrs["without_time"] = len(log) - len(kept)
    return kept
