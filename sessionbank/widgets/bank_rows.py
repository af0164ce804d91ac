"""The sessions of a bank as rows to choose from: filtered, searched, sorted on frames; outcomes worked out when asked.

No transcript is read here but by a search, by outcomes, and where the bank has read them already. Nothing is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sessionbank.bank import SessionBank
from sessionbank.errors import QueryError
from sessionbank.records import AGENTS, Session
from sessionbank.selection import Selection, Tables
from sessionbank.trajectory.outcome import session_outcome

if TYPE_CHECKING:
    import pandas as pd

SORTS = {  # what people choose, and the column (with whether small ones come first) behind it
    "newest": ("stored_at", False), "oldest": ("stored_at", True), "most messages": ("message_count", False),
    "most errors": ("tool_errors", False), "most output": ("output_tokens", False), "highest cost": ("cost_usd", False),
}  # fmt: skip
_COUNTS = ("message_count", "tool_errors", "output_tokens", "cost_usd")


@dataclass(frozen=True, slots=True)
class Row:
    """A session on a line; None is not known (yet)."""

    session_id: str
    agent: str
    stored_at: datetime | None
    branches: str
    about: str
    message_count: int | None = None
    tool_errors: int | None = None
    cost_usd: float | None = None
    outcome: str | None = None


class SessionRows:
    """The rows of a bank or a selection.

    `frame` has one row a session: session_id, agent, stored_at (latest, UTC), and, where `is_read`, counts.

    Example:
        >>> import sessionbank as sb
        >>> with sb.open_bank("data/shop.bundle", cache=False, progress=False) as bank:
        ...     rows = SessionRows(bank)
        >>> len(rows.frame), len(rows.passing(agent="gemini-cli")), len(rows.passing(branch="search"))
        (60, 4, 1)
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        chosen = tables.discover() if isinstance(tables, SessionBank) else tables
        if not isinstance(chosen, Selection):
            raise QueryError(f"rows are of a SessionBank or a Selection, not {type(tables).__name__}")
        self._selection = chosen
        self._place = {sid: at for at, sid in enumerate(chosen.session_ids)}
        self.outcomes: dict[str, str] = {}
        self._take(tables.records())

    def _take(self, records: pd.DataFrame) -> None:
        self.records = records[["session_id", "created_at", "branch", "agent", "agent_label", "prompt_text"]]
        self.is_read = len(self.records) == 0 or bool(self.records["agent"].notna().any())
        self.frame = self._frame()
        self.__dict__.pop("_by_id", None)

    def refresh(self) -> bool:
        """Takes up what transcripts tell: agents and counts. They have just been read, or are read now. Whether it is new."""
        if self.is_read:
            return False
        self._take(self._tables.records(transcripts=True))
        return self.is_read

    def _frame(self) -> pd.DataFrame:
        records = self.records.assign(agent=_agents(self.records))
        by = records.groupby("session_id", sort=False)
        frame = by.agg(agent=("agent", "first"), stored_at=("created_at", "max")).reset_index()
        frame["agent"] = frame["agent"].fillna("unknown")
        if self.is_read and len(frame):
            sessions = self._tables.sessions()[["session_id", *_COUNTS]]
            frame = frame.merge(sessions, on="session_id", how="left", sort=False)
        return frame

    @property
    def sorts(self) -> list[str]:
        """By what rows can be sorted now."""
        return [name for name, (column, _) in SORTS.items() if column in self.frame]

    @property
    def agents(self) -> list[tuple[str, int]]:
        """Each agent and how many sessions are its, most first."""
        counts = self.frame["agent"].value_counts()
        return sorted(((str(k), int(v)) for k, v in counts.items()), key=lambda kv: (-kv[1], kv[0]))

    @property
    def branches(self) -> list[str]:
        """The branches that records name, those with most records first."""
        counts = self.records["branch"].value_counts()
        return [str(k) for k, _ in sorted(counts.items(), key=lambda kv: (-int(kv[1]), str(kv[0])))]

    def passing(
        self, *, agent: str | None = None, branch: str | Sequence[str] | None = None, since: date | None = None,
        until: date | None = None, among: set[str] | None = None, sort: str = "newest",
    ) -> list[str]:  # fmt: skip
        """Ids of the sessions that pass, sorted.

        As `bank.query` does: one record must pass branch and dates together. A text as `branch` is part of a branch's
        name, a list holds names. `until` is the last day, a day in UTC. `among` are ids, of a search.
        """
        records, keep = self.records, self.frame["session_id"].notna()
        if branch is not None or since is not None or until is not None:
            mask = records["session_id"].notna()
            if isinstance(branch, str):
                mask &= (
                    records["branch"].str.contains(branch, case=False, regex=False).fillna(False).astype(bool)
                )
            elif branch is not None:
                mask &= records["branch"].isin(list(branch))
            if since is not None:
                mask &= (records["created_at"] >= _day(since)).fillna(False)
            if until is not None:
                mask &= (records["created_at"] < _day(until + timedelta(days=1))).fillna(False)
            keep &= self.frame["session_id"].isin(records.loc[mask, "session_id"])
        if agent is not None:
            keep &= self.frame["agent"].eq(agent)
        if among is not None:
            keep &= self.frame["session_id"].isin(list(among))
        if sort not in self.sorts:
            raise QueryError(f"rows are sorted by one of {', '.join(self.sorts)}, not {sort!r}")
        column, is_ascending = SORTS[sort]
        found = self.frame.loc[keep].sort_values(
            [column, "session_id"], ascending=[is_ascending, True], na_position="last", kind="stable"
        )
        return [str(i) for i in found["session_id"]]

    def found(self, text: str, *, everywhere: bool = False) -> set[str]:
        """Ids of the sessions in whose prompts (`everywhere`: in any of whose messages) the text stands, whatever the case.

        Reads all transcripts, where that has not been done.
        """
        import pyarrow.compute as pc

        messages = self._tables.arrow("messages").select(["session_id", "kind", "text"])
        if not everywhere:
            messages = messages.filter(pc.equal(messages["kind"], "prompt"))
        hit = pc.match_substring(messages["text"], text, ignore_case=True).fill_null(False)
        typed = (
            self.records["prompt_text"].str.contains(text, case=False, regex=False).fillna(False).astype(bool)
        )
        return {
            *messages.filter(hit)["session_id"].unique().to_pylist(),
            *self.records.loc[typed, "session_id"],
        }

    def session(self, session_id: str) -> Session:
        """The session of a row; its transcript is read when asked for."""
        found = self._selection[self._place[session_id]]
        assert isinstance(found, Session)
        return found

    def outcome(self, session_id: str) -> str:
        """How the session ended by the evidence; worked out once."""
        if session_id not in self.outcomes:
            session = self.session(session_id)
            self.outcomes[session_id] = session_outcome(session, commits=session.commit_facts).label
        return self.outcomes[session_id]

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """The rows of these sessions, in this order."""
        return [self._row(sid, self._by_id.loc[sid]) for sid in ids]

    @cached_property
    def _by_id(self) -> pd.DataFrame:
        return self.frame.set_index("session_id")

    @cached_property
    def _prompts(self) -> dict[str, str]:
        """The first stored prompt of each session."""
        known = self.records.dropna(subset=["prompt_text"]).drop_duplicates("session_id")
        return dict(zip(known["session_id"], known["prompt_text"], strict=True))

    def _row(self, sid: str, row: Any) -> Row:
        session = self.session(sid)
        summary = session.summary
        about = summary.intent if summary and summary.intent else None
        if about is None:
            about = self._prompts.get(sid)
        counts = {n: _known(row[n]) for n in ("message_count", "tool_errors", "cost_usd") if n in row.index}
        return Row(
            sid, str(row["agent"]), _known(row["stored_at"]), ", ".join(session.branches), about or "",
            **counts, outcome=self.outcomes.get(sid),
        )  # fmt: skip


class Walk:
    """Goes through sessions in order and keeps those with an outcome, as far as was asked: none is read before."""

    def __init__(self, rows: SessionRows, ids: Sequence[str], outcome: str | None) -> None:
        self._rows, self.ids, self.outcome = rows, list(ids), outcome
        self.found = list(ids) if outcome is None else []
        self.looked = len(self.ids) if outcome is None else 0

    @property
    def is_done(self) -> bool:
        """Whether every session has been looked at."""
        return self.looked >= len(self.ids)

    def on(self, *, enough: int, seconds: float) -> None:
        """Looks at more sessions until `enough` have been found in all, none is left, or the time is over."""
        end = time.monotonic() + seconds
        while not self.is_done and len(self.found) < enough:
            sid = self.ids[self.looked]
            self.looked += 1
            if self._rows.outcome(sid) == self.outcome:
                self.found.append(sid)
            if time.monotonic() >= end:
                break


def _agents(records: pd.DataFrame) -> pd.Series:
    """What the bytes show; where that is not known, what the metadata says, under our name for it."""
    labels = records["agent_label"]
    plain = labels.str.strip().str.casefold().str.replace(" ", "-", regex=False)
    return records["agent"].fillna(plain.where(plain.isin(AGENTS), labels))


def _day(value: date) -> pd.Timestamp:
    import pandas as pd

    return pd.Timestamp(year=value.year, month=value.month, day=value.day, tz="UTC")


def _known(value: Any) -> Any:
    import pandas as pd

    return None if pd.isna(value) else value
