"""Rows of the spoken tables as the frozen objects of `records`: what a `Session` hands out.

The tables are the one truth; nothing is worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import repeat
from typing import TYPE_CHECKING, Any

from sessionbank.records import Block, Message, TokenUsage, ToolCall, Transcript
from sessionbank.tables import cache
from sessionbank.tables.state import State

if TYPE_CHECKING:
    import pyarrow as pa

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def transcript(state: State, session_id: str) -> Transcript:
    """The transcript of one session."""
    manifest = state.manifest
    one = cache.Manifest(manifest.fingerprint, {session_id: manifest.sessions[session_id]})
    part = {  # one session after the other must not leave the whole bank mapped
        name: cache.assemble(state.cache, one, name, keep=False)
        for name in ("messages", "blocks", "tool_calls", "token_usage")
    }
    facts = state.facts[session_id]
    blocks: dict[int, list[Block]] = {}
    for seq, block in zip(part["blocks"]["seq"].to_pylist(), _objects(part["blocks"], Block), strict=True):
        blocks.setdefault(seq, []).append(block)
    here = [tuple(blocks.get(seq, ())) for seq in part["messages"]["seq"].to_pylist()]
    return Transcript(
        session_id,
        facts["agent"] or "unknown",
        tuple(_objects(part["messages"], Message, blocks=here)),
        tuple(_objects(part["tool_calls"], ToolCall)),
        tuple(_objects(part["token_usage"], TokenUsage)),
        facts["cwd"],
        facts["agent_version"],
    )


def _objects(table: pa.Table, kind: type[Any], **given: list[Any]) -> Iterator[Any]:
    """An object a row, column by column: rows as dicts take twice the time."""
    columns: list[Iterable[Any]] = []
    for field in fields(kind):
        if field.name in given:
            columns.append(given[field.name])
        elif field.name in table.column_names:
            columns.append(_values(table[field.name]))
        else:
            columns.append(repeat(field.default, len(table)))
    return map(kind, *columns)


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The column as Python values. Times by way of whole numbers: Arrow's own way takes five times as long."""
    import pyarrow as pa

    if not pa.types.is_timestamp(column.type):
        values: list[Any] = column.to_pylist()
        return values
    return [
        None if us is None else _EPOCH + timedelta(microseconds=us)
        for us in column.cast(pa.int64()).to_pylist()
    ]
