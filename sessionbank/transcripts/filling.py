"""Fills a session's rows for formats whose lines are not the hot path: a message, its blocks, its calls and results.

It numbers blocks and gives every row its place; what a line means is each format's own business.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.rows import (
    BlockRow,
    Entry,
    MessageRow,
    ResultRow,
    SessionRows,
    UsageRow,
    UseRow,
    as_json,
    string,
)

_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much
_EPOCH_MS_LIMIT = 253_402_300_800_000  # the year 10000: what no column of times holds
REDACTED = "REDACTED"  # what Entire writes over an id that looked like a secret


class Filler:
    """Adds rows to `SessionRows`, in the order in which things stand in the transcript."""

    def __init__(self, rows: SessionRows) -> None:
        self.rows = rows

    def message(
        self, entry: Entry, role: str, kind: str, *, text: str | None = None, uuid: str | None = None,
        parent: str | None = None, model: str | None = None, message_id: str | None = None, time: Any = None,
        agent: str | None = None, call: str | None = None, line_type: str | None = None, extra: Any = None,
    ) -> int:  # fmt: skip
        """Adds a message and gives its seq. `extra` is what no column holds (a dict, or None)."""
        messages = self.rows.messages
        _, line, offset, place = entry
        messages.append(
            _new(
                MessageRow,
                (
                    uuid, parent, role, kind, text, model, message_id, None, time if type(time) is str else None, agent,
                    call, agent is not None or call is not None, False, line_type,
                    as_json(extra) if extra else None, line, offset, place,
                ),
            )
        )  # fmt: skip
        return len(messages) - 1

    def block(
        self, seq: int, kind: str, text: str | None, *, call_id: str | None = None, is_redacted: bool = False
    ) -> None:
        """Adds a block to a message, after those that it has."""
        blocks = self.rows.blocks
        last = blocks[-1] if blocks else (-1, 0)
        at = last[1] + 1 if last[0] == seq else 0
        blocks.append(_new(BlockRow, (seq, at, kind, text, call_id, None, None, is_redacted)))

    def image(self, seq: int, media_type: Any, data: Any, *, call_id: str | None = None) -> None:
        """Adds an image block; `data` is its base64 text or data URL, whose bytes are counted and not kept."""
        blocks = self.rows.blocks
        at = blocks[-1].block + 1 if blocks and blocks[-1].seq == seq else 0
        size = None
        if type(data) is str:
            head, comma, body = data.partition(";base64,")
            if comma:
                media_type, data = head.removeprefix("data:"), body
            if comma or not data.startswith(("http:", "https:", "file:", "/")):
                size = len(data) * 3 // 4 - data[-2:].count("=")
        blocks.append(BlockRow(seq, at, "image", None, call_id, string(media_type), size))

    def use(
        self, seq: int, call_id: str | None, name: str | None, *, given: Any, message_id: str | None
    ) -> None:
        """Adds a tool use and its block."""
        self.rows.uses.append(_new(UseRow, (seq, call_id, name or "unknown", given, message_id)))
        self.block(seq, "tool_use", given if type(given) is str else as_json(given), call_id=call_id)

    def result(
        self, seq: int, call_id: str | None, text: str | None, *, is_error: bool | None, status: str | None = None,
        data: Any = None, returned_at: str | None = None,
    ) -> None:  # fmt: skip
        """Adds a tool result and its block."""
        self.rows.results.append(_new(ResultRow, (seq, call_id, text, is_error, status, data, returned_at)))
        self.block(seq, "tool_result", text, call_id=call_id)

    def unmeasured(self, seq: int, call: str, *, is_final: bool) -> None:
        """Adds a call of which no token count is recorded: the call is known, its tokens are missing."""
        self.rows.usage.append(UsageRow(seq, call, None, None, None, None, None, None, is_final))

    def names_session(self, session_id: Any) -> None:
        """Notes a session id that a line names; another session's is kept for the lineage."""
        if type(session_id) is str and session_id not in ("", REDACTED, self.rows.session_id):
            self.rows.foreign_ids[session_id] = self.rows.foreign_ids.get(session_id, 0) + 1


def identified(stored: list[jsonl.Stored]) -> list[jsonl.Stored]:
    """The stored records of a file with only those ids kept that name one record of it.

    An id that was redacted, or that stands on lines that differ, would make different lines one.
    """
    ids = [s[0] for s in stored if s[0] is not None]
    if len(set(ids)) == len(ids) and REDACTED not in ids:
        return stored
    first: dict[str | None, jsonl.Stored] = {}
    for record in stored:
        first.setdefault(record[0], record)
    shared = {r[0] for r in stored if r[1] != first[r[0]][1]} | {REDACTED}
    return [(None, *r[1:]) if r[0] in shared else r for r in stored]


def iso(milliseconds: Any) -> str | None:
    """A time in milliseconds since 1970 as ISO 8601 text in UTC; None where it is none."""
    if type(milliseconds) not in (int, float) or not 0 < milliseconds < _EPOCH_MS_LIMIT:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


def rest(value: dict[str, Any], known: frozenset[str]) -> dict[str, Any] | None:
    """What of a line no column holds."""
    if value.keys() <= known:
        return None
    return {k: v for k, v in value.items() if k not in known}
