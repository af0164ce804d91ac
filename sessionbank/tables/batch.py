"""Rows of many sessions gathered as columns, then written as Arrow tables: one batch is one segment of the cache.

Memory follows the batch, not the bank: the caller flushes when `size` passes its limit. Each session's rows stand
together, and `ranges` tells where. Times arrive as text and are parsed as whole columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from sessionbank import schema
from sessionbank.records import Diagnostic
from sessionbank.sources.metadata import moment
from sessionbank.tables import finish
from sessionbank.transcripts.rows import SessionRows

if TYPE_CHECKING:
    import pyarrow as pa

_FIRST_US, _LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999  # the years 1 to 9999
TABLES = (
    "messages",
    "blocks",
    "tool_calls",
    "token_usage",
    "usage_lines",
    "snapshots",
    "facts",
    "diagnostics",
)


@dataclass(slots=True)
class Range:
    """Where a session's rows stand in each table of a segment: (first row, number of rows)."""

    session_id: str
    rows: dict[str, tuple[int, int]] = field(default_factory=dict)


class Batch:
    """Columns of the tables in `TABLES`, session after session."""

    def __init__(self) -> None:
        self.size = 0  # bytes of transcript behind the rows
        self.ranges: list[Range] = []
        self._parts: dict[str, list[Sequence[Sequence[Any]]]] = {t: [] for t in TABLES}
        self._agents: list[tuple[Any, ...]] = []

    def add(
        self,
        rows: SessionRows,
        snapshots: list[tuple[Any, ...]],
        agent: str | None,
        *,
        inherited: Mapping[str, str],
        size: int,
    ) -> None:
        """Takes a session's rows; `snapshots` are rows of the table of that name."""
        where = Range(rows.session_id)
        calls = finish.tool_call_columns(rows, inherited)
        usage, lines = finish.usage_columns(rows, inherited)
        self._put(where, "messages", finish.message_columns(rows, inherited))
        self._put(where, "blocks", finish.block_columns(rows))
        self._put(where, "tool_calls", calls)
        self._put(where, "token_usage", usage)
        self._put(where, "usage_lines", lines)
        self._put(where, "snapshots", list(zip(*snapshots, strict=True)))
        self._put(where, "diagnostics", list(zip(*map(_problem, rows.problems), strict=True)))
        # A line copied from another session says where that one comes from.
        continues = {sid: why for uuid, sid, why in rows.continues if uuid not in inherited}
        continues.pop(rows.session_id, None)
        follows = [before for uuid, before in rows.follows if type(before) is str and uuid not in inherited]
        if follows:
            here = {m.uuid for m in rows.messages}
            follows = [before for before in follows if before not in here]
        about = (rows.cwd, rows.agent_version, follows)
        self._agents.append((agent, about, rows.foreign_ids, len(rows.boundaries), continues))
        self.ranges.append(where)
        self.size += size

    @property
    def messages(self) -> int:
        """How many messages it holds."""
        return sum(r.rows["messages"][1] for r in self.ranges)

    def _put(self, where: Range, table: str, columns: Sequence[Sequence[Any]]) -> None:
        n = len(columns[0]) if columns else 0
        where.rows[table] = (-1, n)  # where they begin is known when the batch is whole
        if n:
            self._parts[table].append(columns)

    def __add__(self, other: Batch) -> Batch:
        """The sessions of this batch, then those of the other one."""
        both = Batch()
        both.size = self.size + other.size
        both.ranges = self.ranges + other.ranges
        both._parts = {t: self._parts[t] + other._parts[t] for t in TABLES}
        both._agents = self._agents + other._agents
        return both

    def tables(self) -> dict[str, pa.Table]:
        """The batch as Arrow tables of the schema, costs and session facts worked out."""
        import pyarrow as pa

        from sessionbank.tables import prices, stats

        begins = dict.fromkeys(TABLES, 0)
        for at, where in enumerate(self.ranges):
            for table, (_, n) in where.rows.items():
                where.rows[table] = (begins[table], n)
                begins[table] += n
            where.rows["facts"] = (at, 1)
        found = {t: self._table(t) for t in TABLES if t != "facts"}
        usage = found["token_usage"]
        cost = pa.array(prices.costs(usage), pa.float64(), from_pandas=True)
        found["token_usage"] = usage.set_column(usage.schema.get_field_index("cost_usd"), "cost_usd", cost)
        calls = found["tool_calls"]
        found["tool_calls"] = calls.set_column(
            calls.schema.get_field_index("duration_ms"), "duration_ms", _duration(calls)
        )
        found["facts"] = stats.facts(found, self.ranges, self._agents)
        return found

    def _table(self, name: str) -> pa.Table:
        import pyarrow as pa

        wanted = schema.arrow_schema(name)
        parts = self._parts[name]
        if not parts:
            return wanted.empty_table()
        columns = []
        for at, f in enumerate(wanted):
            values = list(chain.from_iterable(p[at] for p in parts))
            if pa.types.is_timestamp(f.type):
                columns.append(times(values, f.type))
            else:
                columns.append(pa.array(values, f.type))
        return pa.Table.from_arrays(columns, schema=wanted)


def times(values: list[Any], kind: pa.DataType) -> pa.Array:
    """ISO 8601 texts as timestamps; what is none is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        found = pc.cast(pa.array(values, pa.large_string()), kind)
    except pa.ArrowInvalid:
        return pa.array([moment(v) for v in values], kind)
    edges = pc.min_max(found.cast(pa.int64())).as_py()
    if edges["min"] is None or _FIRST_US <= edges["min"] <= edges["max"] <= _LAST_US:
        return found
    return pa.array([moment(v) for v in values], kind)  # years that Arrow knows and Python does not


def _duration(calls: pa.Table) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    gap = pc.subtract(calls["returned_at"].cast(pa.int64()), calls["called_at"].cast(pa.int64()))
    # A result stamped before its call shows clocks that differ, not a duration.
    return pc.if_else(
        pc.greater_equal(gap, 0), pc.divide(gap, 1000), pa.scalar(None, pa.int64())
    ).combine_chunks()


def _problem(d: Diagnostic) -> tuple[Any, ...]:
    return d.severity, d.code, d.checkpoint_id, d.session_index, d.session_id, d.path, d.line_index, d.message
