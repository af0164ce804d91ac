"""Tables as methods: what `SessionBank` (everything) and `Selection` (some sessions) share.

Each method gives a pandas frame of the table of its name; `sessionbank.schema` says what its columns mean. Nothing is
counted here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank import schema
from sessionbank.errors import QueryError
from sessionbank.html import bank_html
from sessionbank.records import Session, SessionRecord
from sessionbank.tables import cache, explain, objects, totals
from sessionbank.tables.reach import StateReach
from sessionbank.tables.state import SPOKEN, State

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_BY_CHECKPOINT = ("checkpoints", "commits")


class Tables:
    """The tables of the sessions that `_view` names (None: of all)."""

    def _view(self) -> tuple[State, tuple[str, ...] | None]:
        raise NotImplementedError

    def arrow(self, name: str) -> pa.Table:
        """The table of that name as a `pyarrow.Table` of the schema.

        Raises `QueryError` for a name that does not exist.
        """
        schema.table(name)
        state, ids = self._view()
        if name in WORKED_OUT:
            return state.kept(name, lambda: self._worked_out(name)) if ids is None else self._worked_out(name)
        if ids is not None and name in SPOKEN:
            return _spoken(state, ids, name)
        whole = state.table(name)
        return whole if ids is None else _of_sessions(state, ids, name, whole)

    def _worked_out(self, name: str) -> pa.Table:
        return schema.arrow_table(name, [row for s in self.iter_sessions() for row in WORKED_OUT[name](s)])

    def _frame(self, name: str) -> pd.DataFrame:
        return schema.frame(self.arrow(name))

    def checkpoints(self) -> pd.DataFrame:
        """One row a checkpoint, whatever layouts it is stored in. Reads metadata, no transcript."""
        return self._frame("checkpoints")

    def records(self, *, transcripts: bool | None = None) -> pd.DataFrame:
        """One row a stored session directory.

        `agent`, `format` and `hash_state` are known once transcripts have been read. By default
        they are read for it only where that is quick: already cached, or no more than 80 records. ``True`` always
        reads, ``False`` never.
        """
        state, ids = self._view()
        whole = state.table("records") if transcripts is None else state.records(read=transcripts)
        return schema.frame(whole if ids is None else _of_sessions(state, ids, "records", whole))

    def sessions(self) -> pd.DataFrame:
        """One row a session; counts and tokens (whole numbers) without ``subagent_`` are the main agent's alone."""
        return self._frame("sessions")

    def messages(self) -> pd.DataFrame:
        """One row a transcript line, once a session, in file order."""
        return self._frame("messages")

    def blocks(self) -> pd.DataFrame:
        """One row a part of a message: text, thinking, tool use, tool result, image."""
        return self._frame("blocks")

    def tool_calls(self) -> pd.DataFrame:
        """One row a tool call with its result; durations in milliseconds."""
        return self._frame("tool_calls")

    def token_usage(self) -> pd.DataFrame:
        """One row an API call; tokens are whole numbers, cost is USD at the call's date by genai-prices."""
        return self._frame("token_usage")

    def attribution(self) -> pd.DataFrame:
        """One row a stored attribution; add up only rows with `is_representative`. Percentages run from 0 to 100."""
        return self._frame("attribution")

    def commits(self) -> pd.DataFrame:
        """One row a code commit and checkpoint that it names, over all refs."""
        return self._frame("commits")

    def learnings(self) -> pd.DataFrame:
        """One row a sentence of a summary: repo, code, workflow, friction, open_item."""
        return self._frame("learnings")

    def files(self) -> pd.DataFrame:
        """One row a session, file and kind of evidence."""
        return self._frame("files")

    def steps(self) -> pd.DataFrame:
        """One row a step of each session's trajectory; a reply's tokens stand on its first step."""
        return self._frame("steps")

    def outcomes(
        self, strategies: Sequence[str] | None = None, *, judge: Callable[[Session], Any] | None = None
    ) -> pd.DataFrame:
        """One row a session and strategy: label, score and confidence (0 to 1), reason, and the rows it rests on.

        By default all strategies that need no model. `judge` is a callable that strategy ``judge`` asks.
        """
        from sessionbank.trajectory import outcome

        if strategies is None and judge is None:
            return self._frame("outcomes")
        if isinstance(strategies, str):
            strategies = (strategies,)
        names = tuple(strategies or (*outcome.DEFAULT, "judge"))
        rows = [
            row
            for session in self.iter_sessions()
            for row in outcome.outcome_rows(session, session.commit_facts, strategies=names, judge=judge)
        ]
        return outcome.outcome_frame(rows)

    def interactions(self) -> pd.DataFrame:
        """One row a directed edge between two agents, as transcripts show it."""
        return self._frame("interactions")

    def members(self) -> pd.DataFrame:
        """One row an agent of a session in which several work."""
        return self._frame("members")

    def lineage(self) -> pd.DataFrame:
        """One row a pair of sessions of which one comes from the other."""
        return self._frame("lineage")

    def reconcile(self) -> pd.DataFrame:
        """One row a record: tokens counted in its transcript beside those that its metadata states."""
        return self._frame("reconcile")

    def diagnostics(self) -> pd.DataFrame:
        """One row a thing that was not as it should be, with its place."""
        return self._frame("diagnostics")

    def totals(self, by: str | Sequence[str] = "session", *, tz: str = "UTC") -> pd.DataFrame:
        """Calls, tokens and cost (USD) summed by session, checkpoint, commit, day, model, agent or branch, or several.

        `cost_usd` is the main agent's, `total_cost_usd` includes subagents. A commit is the one that carries its
        checkpoints' cost; what no commit names, and calls without a time, stand in rows with a missing key.

        A day is a day in `tz` (an IANA name). Main and subagent work stand in columns apart, inherited rows in none;
        sums over any grouping agree. Raises `QueryError` for an unknown grouping or zone.
        """
        state, ids = self._view()
        return totals.totals(
            state, None if ids is None else frozenset(ids), [by] if isinstance(by, str) else list(by), tz=tz
        )

    def explain(self, column: str, *, rows_of: int | None = None) -> pd.DataFrame:
        """The way from the naive sum of a count or token column to the true figure, one row a rule.

        Columns: step, rule, effect, value (running), rows (how many lie behind the effect). With `rows_of` the rows
        of that step instead: session_id, seq and effect of each; give one to `raw`.
        Raises `QueryError` for a column that is not counted.
        """
        state, ids = self._view()
        return explain.explain(state, None if ids is None else frozenset(ids), column, rows_of=rows_of)

    def to_parquet(self, folder: str | Path) -> list[Path]:
        """Writes each table as ``<folder>/<table>.parquet`` (zstd), as it is: nothing is redacted. Gives the paths.

        DuckDB, Polars, Dask and Spark open the folder.
        """
        import pyarrow.parquet as pq

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in PARQUET:
            fresh = (
                target / f".{name}-{uuid.uuid4().hex}.tmp"
            )  # another process may write here at the same time
            pq.write_table(self.arrow(name), fresh, compression="zstd", coerce_timestamps="us")
            paths.append(fresh.replace(target / f"{name}.parquet"))
        return paths

    def iter_sessions(self) -> Iterator[Session]:
        """The sessions as objects, in the order of the selection; transcripts are read when asked for."""
        state, ids = self._view()
        reach = StateReach(state)
        for sid in state.sessions if ids is None else ids:
            yield Session(sid, tuple(state.sessions[sid]), lambda s: objects.transcript(state, s), reach)

    def iter_records(self) -> Iterator[SessionRecord]:
        """The records as stored, session after session."""
        for session in self.iter_sessions():
            yield from session.records

    def _repr_html_(self) -> str:
        state, ids = self._view()
        chosen = list(state.sessions) if ids is None else list(ids)
        records = [r for sid in chosen for r in state.sessions[sid]]
        times = [r.created_at for r in records if r.created_at]
        counts = [
            ("sessions", len(chosen)),
            ("records", len(records)),
            ("checkpoints", len({r.checkpoint_id for r in records})),
            ("layouts", ", ".join(dict.fromkeys(r.layout for r in records)) or "none"),
            ("stored", f"{min(times):%Y-%m-%d} to {max(times):%Y-%m-%d}" if times else "no date"),
        ]
        latest = [
            (sid, f"{state.sessions[sid][-1].created_at:%Y-%m-%d %H:%M}" if state.sessions[sid][-1].created_at else "",
             state.sessions[sid][-1].branch or "", _intent(state.sessions[sid]))
            for sid in sorted(chosen, key=lambda s: str(state.sessions[s][-1].created_at or ""), reverse=True)[:8]
        ]  # fmt: skip
        return bank_html(type(self).__name__, counts, latest)


def _steps(session: Session) -> list[tuple[Any, ...]]:
    from sessionbank.trajectory import steps_rows

    return steps_rows(session)


def _outcomes(session: Session) -> list[tuple[Any, ...]]:
    from sessionbank.trajectory import outcome

    columns = schema.table("outcomes").columns
    return [tuple(row[c] for c in columns) for row in outcome.outcome_rows(session, session.commit_facts)]


def _interactions(session: Session) -> list[tuple[Any, ...]]:
    from sessionbank.team import build, model

    return model.interaction_tuples(build.interaction_rows(session))


def _members(session: Session) -> list[tuple[Any, ...]]:
    from sessionbank.team import build, model

    return model.member_tuples(build.member_rows(session))


# Tables that are worked out from a session as a whole, and made anew for each call.
WORKED_OUT: dict[str, Callable[[Session], list[tuple[Any, ...]]]] = {
    "steps": _steps,
    "outcomes": _outcomes,
    "interactions": _interactions,
    "members": _members,
}
STORED_AND_SPOKEN = (
    "checkpoints", "records", "sessions", "messages", "blocks", "tool_calls", "token_usage", "attribution", "commits",
    "learnings", "files", "lineage", "reconcile", "diagnostics",
)  # fmt: skip
PARQUET = (*STORED_AND_SPOKEN, *WORKED_OUT)


class Selection(Tables, Sequence[Session]):
    """Some sessions of a bank, as they stood when they were selected; a sequence of `Session`."""

    def __init__(self, state: State, session_ids: Sequence[str], *, total: int | None = None) -> None:
        self._state = state
        self.session_ids = tuple(session_ids)
        self.total = len(self.session_ids) if total is None else total  # before the limit

    def _view(self) -> tuple[State, tuple[str, ...] | None]:
        return self._state, self.session_ids

    def __len__(self) -> int:
        return len(self.session_ids)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return Selection(self._state, self.session_ids[at])
        return next(Selection(self._state, (self.session_ids[at],)).iter_sessions())

    def __iter__(self) -> Iterator[Session]:
        return self.iter_sessions()

    def __repr__(self) -> str:
        return f"<Selection of {len(self)} sessions ({self.total} before the limit)>"


def _intent(records: list[SessionRecord]) -> str | None:
    return next((r.summary.intent for r in reversed(records) if r.summary and r.summary.intent), None)


def _spoken(state: State, ids: tuple[str, ...], name: str) -> pa.Table:
    manifest = state.manifest
    wanted = set(ids)
    part = cache.Manifest(manifest.fingerprint, {s: k for s, k in manifest.sessions.items() if s in wanted})
    return cache.assemble(state.cache, part, name)


def _of_sessions(state: State, ids: tuple[str, ...], name: str, whole: pa.Table) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in _BY_CHECKPOINT:
        wanted = {r.checkpoint_id for sid in ids for r in state.sessions[sid]}
        return whole.filter(pc.is_in(whole["checkpoint_id"], pa.array(sorted(wanted), pa.large_string())))
    if name == "lineage":
        these = pa.array(ids, pa.large_string())
        return whole.filter(
            pc.or_(pc.is_in(whole["from_session"], these), pc.is_in(whole["to_session"], these))
        )
    if "session_id" not in whole.column_names:
        raise QueryError(f"table {name!r} is of the whole bank; ask the bank for it")
    mine = pc.is_in(whole["session_id"], pa.array(ids, pa.large_string()))
    if (
        name == "diagnostics"
    ):  # what is told of a checkpoint, and of no session in it, concerns all that stand there
        here = pa.array(
            sorted({r.checkpoint_id for sid in ids for r in state.sessions[sid]}), pa.large_string()
        )
        mine = pc.or_(mine, pc.and_(pc.is_null(whole["session_id"]), pc.is_in(whole["checkpoint_id"], here)))
    kept = whole.filter(mine)
    if name != "sessions":
        return kept
    place = {sid: at for at, sid in enumerate(ids)}  # one row a session, in the order of the selection
    order = sorted(range(len(kept)), key=lambda i: place[kept["session_id"][i].as_py()])
    return kept.take(order) if order else kept
