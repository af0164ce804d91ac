"""Rows of the spoken tables as the frozen objects of `records`: what a `Session` hands out.

The tables are the one truth; nothing is worked out here.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sessionbank.records import Block, Message, TokenUsage, ToolCall, Transcript
from sessionbank.tables import cache
from sessionbank.tables.state import State

if TYPE_CHECKING:
    import pyarrow as pa


def transcript(state: State, session_id: str) -> Transcript:
    """The transcript of one session."""
    manifest = state.manifest
    one = cache.Manifest(manifest.fingerprint, {session_id: manifest.sessions[session_id]})
    part = {
        name: cache.assemble(state.cache, one, name)
        for name in ("messages", "blocks", "tool_calls", "token_usage")
    }
    facts = state.facts[session_id]
    blocks: dict[int, list[Block]] = {}
    for row in part["blocks"].to_pylist():
        blocks.setdefault(row["seq"], []).append(Block(**{f.name: row[f.name] for f in fields(Block)}))
    return Transcript(
        session_id,
        facts["agent"] or "unknown",
        tuple(
            Message(**row, blocks=tuple(blocks.get(row["seq"], ())))
            for row in _rows(part["messages"], Message)
        ),
        tuple(ToolCall(**row) for row in _rows(part["tool_calls"], ToolCall)),
        tuple(TokenUsage(**row) for row in _rows(part["token_usage"], TokenUsage)),
        facts["cwd"],
    )


def _rows(table: pa.Table, kind: type[Any]) -> list[dict[str, Any]]:
    names = {f.name for f in fields(kind)}
    return list(table.select([c for c in table.column_names if c in names]).to_pylist())
